import { recordProcesses } from "#src/processes/leftovers.ts";
import type { PartPlan } from "#src/processes/running-part.ts";
import { SupervisedPart } from "#src/processes/supervised-part.ts";
import type { Layout } from "#src/stack/layout.ts";

/**
 * The processes of one local stack. The registry writes their pids to a file, so that the next launcher can end them if
 * the current launcher is killed.
 */
export class PartRegistry {
  readonly #parts: SupervisedPart[] = [];
  readonly #layout: Layout;
  readonly #restart: boolean;
  readonly #report: (line: string) => void;
  #onChange: () => void = () => {};

  constructor(layout: Layout, options: { restart: boolean; report: (line: string) => void }) {
    this.#layout = layout;
    this.#restart = options.restart;
    this.#report = options.report;
  }

  /** Adds a process to the stack; the caller starts it and disposes of it. */
  add(plan: PartPlan): SupervisedPart {
    const part = new SupervisedPart(plan, {
      holdDir: this.#layout.hold,
      restart: this.#restart,
      report: this.#report,
      onStarted: () => {
        recordProcesses(
          this.#layout,
          this.#parts.map((each) => each.pid),
        );
        this.#onChange();
      },
    });
    this.#parts.push(part);
    return part;
  }

  /**
   * Starts the supervision of all processes of the stack: a process that ends is started again, and `onChange` is
   * called for each restart.
   */
  supervise(onChange: () => void): void {
    this.#onChange = onChange;
    for (const part of this.#parts) part.supervise();
  }

  /** Stops the calls of `onChange`, because the stack is being stopped. */
  release(): void {
    this.#onChange = () => {};
  }
}
