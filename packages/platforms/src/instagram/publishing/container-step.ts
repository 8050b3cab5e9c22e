import type { GraphApi } from "#src/graph-api/graph-request.ts";
import type { Handles } from "#src/publishing/handles.ts";
import {
  isFailure,
  isWait,
  type PrepareStep,
  runAgain,
  type StepResult,
} from "#src/publishing/steps.ts";
import { advanceContainer } from "./advance-container.ts";
import { isUsable, listPlaces, readContainer, type ContainerPlace } from "./container-state.ts";

type Goal = "made" | "ready";

function isReached(place: ContainerPlace, goal: Goal, handles: Handles): boolean {
  const container = readContainer(handles, place);
  if (container === undefined || !isUsable(container, handles, Date.now())) return false;
  return container.stage === "ready" || (goal === "made" && container.stage === "processing");
}

/**
 * First the containers of all files, so that Instagram processes them at the same time, then the
 * wait for each file, then the carousel. A container that is lost meanwhile is created again by the
 * running step.
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
      const unreached = before.find((one) => !isReached(one.place, one.goal, handles)) ?? { place };
      const context = { api, publication, place: unreached.place, handles, signal };
      return toProgress(
        await advanceContainer(context),
        (all) => isReached(place, goal, all),
        handles,
      );
    },
  }));
}

/** A step also runs again after progress of another container of the post. */
function toProgress(
  made: StepResult,
  isOver: (handles: Handles) => boolean,
  before: Handles,
): StepResult {
  if (isFailure(made)) return made;
  const wait = isWait(made) ? made : runAgain(made);
  const { handles = {} } = wait;
  return isOver({ ...before, ...handles }) ? handles : wait;
}
