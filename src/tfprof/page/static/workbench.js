// A view of rows: picture, table and details, which share the selection.

import { h, nameOf, fill, amount } from "./dom.js";
import { formatted } from "./units.js";

/** @typedef {import("./types.d.ts").Context} Context */

/**
 * @param {Context} context
 * @returns {import("./types.d.ts").Component}
 */
export function mountWorkbench({ payload, store, provider }) {
  const element = h("div", { class: "workbench" });

  async function update() {
    const { view, metric, options } = store.state;
    const kind = /** @type {import("./types.d.ts").ViewKind} */ (view);
    const rows = await provider.ask(kind, options);
    const chosen = payload.metrics.find(({ key }) => key === metric) ?? payload.metrics[0];
    const total = rows.total(chosen.column);
    const shown = [...rows.row.subarray(0, 100)];
    fill(
      element,
      shown.map((row) =>
        h(
          "div",
          null,
          nameOf(rows.data.name.get(row)),
          " ",
          amount(formatted(total[row], chosen.unit), total[row]),
        ),
      ),
    );
  }

  return { element, update: () => void update() };
}
