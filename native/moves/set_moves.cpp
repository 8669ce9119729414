// Moves of whole sets, compiled for values of 64 and of 32 bits.
#include "moves/set_moves.hpp"

namespace dynmeans {

template class SetMoves<double>;
template class SetMoves<float>;

}  // namespace dynmeans
