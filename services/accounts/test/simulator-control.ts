/** The part of the simulator's control API that these tests use. */
export interface SimulatorControl {
  fault(rule: {
    readonly platform: string;
    readonly operation: string;
    readonly mode: string;
    readonly times?: number;
    readonly status?: number;
    readonly delayMs?: number;
  }): Promise<void>;
  /** All secrets that the simulated platforms issued. */
  secrets(): Promise<readonly string[]>;
  /**
   * Number of calls of an API operation that the simulated platform has received, including calls
   * that it did not answer.
   */
  countCalls(platform: string, operation: string): Promise<number>;
  /** How the simulated platform answered the calls of an API operation, in order. */
  outcomes(platform: string, operation: string): Promise<readonly string[]>;
  settings(part: {
    readonly authorize?: "ask" | "approve" | "deny";
    readonly instagramTokenShape?: "object" | "list";
  }): Promise<void>;
  reset(): Promise<void>;
}

export function createSimulatorControl(simulatorUrl: string): SimulatorControl {
  const call = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const answer = await fetch(`${simulatorUrl}/_control/${path}`, {
      method,
      ...(body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return await answer.json();
  };
  const requestsOf = async (platform: string, operation: string) => {
    const requests = (await call("GET", `requests?platform=${platform}`)) as {
      operation: string;
      outcome: string;
    }[];
    return requests.filter((request) => request.operation === operation);
  };
  return {
    fault: async (rule) => {
      await call("POST", "faults", rule);
    },
    secrets: async () => (await call("GET", "secrets")) as string[],
    countCalls: async (platform, operation) => (await requestsOf(platform, operation)).length,
    outcomes: async (platform, operation) =>
      (await requestsOf(platform, operation)).map(({ outcome }) => outcome),
    settings: async (part) => {
      await call("POST", "settings", part);
    },
    reset: async () => {
      await call("POST", "reset");
    },
  };
}
