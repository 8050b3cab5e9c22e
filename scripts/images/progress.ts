import { stepLine } from "../check/run-steps.ts";

/** Writes lines as the parts of a check end, and counts them. */
export class Progress {
  passed = 0;
  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /**
   * Does a part of the check and prints its line.
   *
   * @param tell What the result has to say beside that it is good.
   */
  async step<T>(name: string, work: () => Promise<T>, tell?: (result: T) => string): Promise<T> {
    this.#signal.throwIfAborted();
    const began = performance.now();
    const line = (ok: boolean, text = name) => stepLine(text, ok, performance.now() - began);
    try {
      const result = await work();
      this.passed += 1;
      this.print(line(true, tell === undefined ? name : `${name}: ${tell(result)}`));
      return result;
    } catch (error) {
      this.print(line(false));
      throw error;
    }
  }

  print(text: string): void {
    process.stdout.write(`${text}\n`);
  }
}
