/** The pages by the first word of their address. A new page is a line here. */

import type { FunctionComponent } from "preact";
import type { RunInfo } from "../api/types";
import { numbered } from "../parts/numbered";
import type { Route } from "../router";
import { AmbiguousPage } from "./AmbiguousPage";
import { DifferencePage } from "./DifferencePage";
import { EdgePage } from "./EdgePage";
import { ExplainPage } from "./ExplainPage";
import { FiguresPage } from "./FiguresPage";
import { FindingsPage } from "./FindingsPage";
import { MapPage } from "./MapPage";
import { PathPage } from "./PathPage";
import { RunsPage } from "./RunsPage";
import { SearchPage } from "./SearchPage";
import { SimilarPage } from "./SimilarPage";
import { StatePage } from "./StatePage";
import { StatesPage } from "./StatesPage";
import { SummaryPage } from "./SummaryPage";

export type PageComponent = FunctionComponent<{ route: Route }>;

const pages: Record<string, PageComponent> = {
  runs: RunsPage,
  map: MapPage,
  states: StatesPage,
  summary: SummaryPage,
  state: numbered(StatePage, 1),
  edge: numbered(EdgePage, 2),
  figures: FiguresPage,
  ambiguous: AmbiguousPage,
  findings: FindingsPage,
  search: SearchPage,
  similar: numbered(SimilarPage, 1),
  explain: ExplainPage,
  path: numbered(PathPage, 1),
  difference: DifferencePage,
};

/**
 * The page of an address. The empty address is the list of runs, or the map if there is only one; a report begins
 * with its summary.
 */
export function pageOf(route: Route, runs: RunInfo[], report: boolean): PageComponent | null {
  if (route.page === "" && report) return SummaryPage;
  if (route.page === "") return (runs.length > 1 ? pages["runs"] : undefined) ?? MapPage;
  return Object.hasOwn(pages, route.page) ? (pages[route.page] ?? null) : null;
}
