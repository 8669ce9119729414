"""scikit-learn faces: validate, call, store. No mathematics."""
