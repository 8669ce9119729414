// The page in a frame of a notebook, and what is chosen there kept equal to the model in Python.

function render({ model, el }) {
  const frame = document.createElement("iframe");
  frame.title = "Report";
  frame.setAttribute("sandbox", "allow-scripts allow-downloads");
  frame.style.cssText = `width: 100%; border: 0; height: ${model.get("height")}px`;
  const post = (message) => frame.contentWindow?.postMessage(message, "*");
  const onMessage = ({ source, data }) => {
    if (source !== frame.contentWindow || data?.dynmeans !== "selected") return;
    model.set("selection", { clusters: data.clusters, members: data.members, rows: data.rows });
    model.save_changes();
  };
  const onWish = () => post({ dynmeans: "select", ...model.get("wish") });
  addEventListener("message", onMessage);
  frame.addEventListener("load", () => post({ dynmeans: "connect" }));
  model.on("change:wish", onWish);
  frame.srcdoc = model.get("page");
  el.append(frame);
  return () => {
    removeEventListener("message", onMessage);
    model.off("change:wish", onWish);
  };
}

export default { render };
