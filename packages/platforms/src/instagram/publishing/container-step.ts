import type { GraphApi } from "#src/graph/graph-call.ts";
import type { Handles, PrepareStep, StepResult, StepWait } from "#src/publishing/connector.ts";
import { advance } from "./container-work.ts";
import { isUsable, listPlaces, readContainer, type ContainerPlace } from "./containers.ts";

type Goal = "made" | "ready";

function isReached(place: ContainerPlace, goal: Goal, handles: Handles): boolean {
  const container = readContainer(handles, place);
  if (container === undefined || !isUsable(container, handles, Date.now())) return false;
  return container.stage === "ready" || (goal === "made" && container.stage === "processing");
}

/**
 * The steps that make the containers of a post: all files first, so that Instagram works on them at the same time, then
 * each until it is ready, then the carousel. What was lost meanwhile is made again by whichever step is at work.
 */
export function createContainerSteps(api: GraphApi, files: number): readonly PrepareStep[] {
  const places = listPlaces(files);
  const goals = [
    ...places.filter((place) => place !== "carousel").map((place) => ({ place, goal: "made" })),
    ...places.map((place) => ({ place, goal: "ready" })),
  ] as readonly { readonly place: ContainerPlace; readonly goal: Goal }[];
  return goals.map(({ place, goal }, index) => ({
    name: `${goal} ${place}`,
    isDone: (handles) => isReached(place, goal, handles),
    run: async (publication, handles, signal) => {
      const before = goals.slice(0, index);
      const open = before.find((one) => !isReached(one.place, one.goal, handles)) ?? { place };
      const made = await advance({ api, publication, place: open.place, handles, signal });
      return toProgress(made, (all) => isReached(place, goal, all), handles);
    },
  }));
}

/** A step is over when its own goal is reached, not when some other container has come further. */
function toProgress(
  made: StepResult,
  isOver: (handles: Handles) => boolean,
  before: Handles,
): StepResult {
  if (made.kind === "wait") {
    const { handles = {} } = made as StepWait;
    return isOver({ ...before, ...handles }) ? handles : made;
  }
  if (["refused", "retryable", "token_refused"].includes(made.kind ?? "")) return made;
  const handles = made as Handles;
  return isOver({ ...before, ...handles }) ? handles : { kind: "wait", afterMs: 0, handles };
}
