export { Graph, debug, graphlib, layout, util, version } from "@dagrejs/dagre";
