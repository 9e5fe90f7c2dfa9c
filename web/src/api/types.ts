/** What the API answers. The types are made from openapi.json by `npm run types`; their meaning is said there. */

import type { components } from "./schema";

type Schemas = components["schemas"];

/** x, y, width, height in pixels of the picture. */
export type Rectangle = [number, number, number, number];

export type Problem = Schemas["Problem"];
export type Runs = Schemas["Runs"];
export type RunInfo = Schemas["RunInfo"];
export type Map = Schemas["Map"];
export type MapStates = Schemas["MapStates"];
export type MapLinks = Schemas["MapLinks"];
export type StatePage = Schemas["StatePage"];
export type StateBrief = Schemas["StateBrief"];
export type ElementInfo = Schemas["ElementInfo"];
export type ActionInfo = Schemas["ActionInfo"];
export type Successor = Schemas["Successor"];
export type AmbiguityInfo = Schemas["AmbiguityInfo"];
export type AmbiguityTerm = Schemas["AmbiguityTerm"];
export type Incoming = Schemas["Incoming"];
export type Observations = Schemas["Observations"];
export type ObservationInfo = Schemas["ObservationInfo"];
export type Hits = Schemas["Hits"];
export type Hit = Schemas["Hit"];
export type Path = Schemas["Path"];
export type PathStep = Schemas["PathStep"];
export type EdgePage = Schemas["EdgePage"];
export type EdgeAction = Schemas["EdgeAction"];
export type TransitionInfo = Schemas["TransitionInfo"];
export type Figures = Schemas["Figures"];
export type Rate = Schemas["Rate"];
export type Latency = Schemas["Latency"];
export type Findings = Schemas["Findings"];
export type FindingInfo = Schemas["FindingInfo"];
export type Ambiguities = Schemas["Ambiguities"];
export type AmbiguousAction = Schemas["AmbiguousAction"];
export type Explanation = Schemas["Explanation"];
export type ScreenSide = Schemas["ScreenSide"];
export type DecisionInfo = Schemas["DecisionInfo"];
export type Pool = Schemas["Pool"];
export type Considered = Schemas["Considered"];
export type Difference = Schemas["Difference"];
export type EdgeChange = Schemas["EdgeChange"];
export type ChangedAction = Schemas["ChangedAction"];
export type Live = Schemas["Live"];
