import type { Posts } from "./fixture.ts";
import { Checks } from "./model-checks.ts";
import * as commands from "./model-commands.ts";
import * as faults from "./model-faults.ts";
import { World, type Asked } from "./model-world.ts";

type Step = (world: World) => Promise<Asked>;

/** The random steps of the model test and their relative probabilities. */
const STEPS: readonly (readonly [step: Step, weight: number])[] = [
  [commands.createPost, 2],
  [commands.repeatKey, 1],
  [commands.updatePost, 1],
  [commands.publishPost, 1],
  [commands.retryPost, 2],
  [commands.deletePost, 1],
  [faults.comeDue, 1],
  [faults.takeRequests, 2],
  [faults.advanceDelivery, 2],
  [faults.reportUpdates, 3],
  [faults.reportDeletions, 1],
  [faults.succeedLate, 2],
  [faults.sweep, 1],
  [faults.endGuards, 1],
];

const WEIGHTED_STEPS = STEPS.flatMap(([step, weight]) =>
  Array.from({ length: weight }, () => step),
);

export class ModelRun {
  readonly #world: World;
  readonly #checks: Checks;

  constructor(posts: Posts, random: () => number) {
    this.#world = new World(posts, random);
    this.#checks = new Checks(this.#world);
  }

  /**
   * How often a target was published by an older publish request while a newer one was in progress.
   */
  get lateSuccesses(): number {
    return this.#world.lateSuccesses;
  }

  /** `onStep` gets the name of the step first. */
  async step(onStep: (name: string) => void): Promise<void> {
    const step = this.#world.pick(WEIGHTED_STEPS);
    onStep(step.name);
    const asked = await this.#checks.assertAsExpected(await step(this.#world));
    this.#world.inbox = [...this.#world.inbox, ...asked.publish];
    for (const item of asked.remove) {
      const [id = "", deletion = ""] = item.split(" ");
      if (this.#world.isLikely(0.8)) this.#world.delivery.requestDeletion(id, Number(deletion));
    }
  }
}
