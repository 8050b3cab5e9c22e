/** Lists every fault of the environment variables at once, so that an operator can fix them together. */
export class ConfigError extends Error {
  override name = "ConfigError";
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(
      `The configuration has ${faults.length} fault(s):\n${faults.map((fault) => `  - ${fault}`).join("\n")}`,
    );
    this.faults = faults;
  }
}
