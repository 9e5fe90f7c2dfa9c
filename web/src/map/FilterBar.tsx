/** What is shown and how it is coloured: every choice is in the address. */

import { count, line } from "../format";
import { amended, navigate, type Query, type Route } from "../router";
import { isFiltering, noFilters, type Filters } from "./filters";
import { colourings, type ColourBy } from "./scales";
import { wordColumns, type Scene, type WordColumn } from "./scene";

const titles: Record<WordColumn, string> = {
  run: "Run", app: "Application", mode: "Display mode", size: "Text size", window: "Window",
};

export function FilterBar({
  route, scene, filters, colourBy, shown,
}: {
  route: Route;
  scene: Scene;
  filters: Filters;
  colourBy?: ColourBy;
  shown: number;
}) {
  const set = (changes: Query) => navigate(amended(route, changes), { replace: true });
  return (
    <div class="filter-bar" role="group" aria-label="Filters">
      {wordColumns.map((column) => {
        const { names } = scene.words[column];
        const chosen = filters.words[column];
        if (names.length < 2 && chosen === undefined) return null;
        return (
          <label key={column}>
            <span>{titles[column]}</span>
            <select value={chosen ?? ""} onChange={(event) => set({ [column]: event.currentTarget.value || null })}>
              <option value="">all</option>
              {chosen !== undefined && !names.includes(chosen) && <option value={chosen}>{line(chosen, 40)}</option>}
              {names.map((name) => (
                <option key={name} value={name}>
                  {line(name, 40) || "(none)"}
                </option>
              ))}
            </select>
          </label>
        );
      })}
      <label>
        <span>Ambiguity u ≥ {filters.least.toFixed(2)}</span>
        <input
          type="range" min={0} max={1} step={0.05} value={filters.least}
          onInput={(event) => set({ u: event.currentTarget.valueAsNumber || null })}
        />
      </label>
      <label class="check">
        <input
          type="checkbox" checked={filters.failed}
          onChange={(event) => set({ failed: event.currentTarget.checked })}
        />
        <span>crashed or hung</span>
      </label>
      {colourBy && (
        <label>
          <span>Colour</span>
          <select
            value={colourBy}
            onChange={(event) => set({ colour: event.currentTarget.value === "ambiguity" ? null : event.currentTarget.value })}
          >
            {colourings.filter((each) => each !== "run" || scene.runs.length > 1).map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
      )}
      <span class="filter-count" role="status">
        {shown === scene.size ? `${count(shown)} states` : `${count(shown)} of ${count(scene.size)} states`}
      </span>
      {isFiltering(filters) && (
        <button type="button" class="small" onClick={() => set(noFilters)}>
          Clear filters
        </button>
      )}
    </div>
  );
}
