import type { Call } from "@postrider/simulator/http/call";
import { type Simulator, startSimulator } from "@postrider/simulator/simulator";
import { afterAll, beforeEach } from "vitest";
import type { PlatformId } from "#src/platform-id.ts";
import type { PublishingConnector } from "#src/publishing/connector.ts";
import type { Handles } from "#src/publishing/handles.ts";
import type { Failure, Outcome } from "#src/publishing/outcome.ts";
import type { Publication } from "#src/publishing/publication.ts";
import type { StepResult } from "#src/publishing/steps.ts";
import { createSession } from "./bluesky/create-session.ts";
import { judgeRequests } from "./judges/judge-requests.ts";
import { type RecordedRequest, recordRequest } from "./judges/recorded-request.ts";

export const guard = { mayStillSend: () => true, timeoutMs: 5000 };
export const signal = new AbortController().signal;

interface SimulatedAccount {
  readonly externalId: string;
  readonly username: string;
  readonly credentials: Readonly<Record<string, string>>;
}

/** A post as readers of the simulated platform see it. */
export interface Visible {
  readonly id: string;
  readonly text: string;
  readonly media: readonly { readonly kind: string; readonly sha256: string }[];
  readonly createCalls: number;
  /**
   * The options that the connector chose for the post, under the platform's names; absent when it
   * chose none.
   */
  readonly options?: Readonly<Record<string, unknown>>;
}

interface LoggedRequest {
  readonly method: string;
  readonly path: string;
  readonly operation: string;
  readonly outcome: string;
}

/** The result of running all preparation steps of a post. */
export interface Ready {
  readonly handles: Handles;
  readonly failure?: Failure;
  /** The waits of the preparation steps in milliseconds, without waits of 0. */
  readonly waits: readonly number[];
}

function isFailure(made: StepResult): made is Failure {
  return ["refused", "retryable", "token_refused"].includes(made.kind ?? "");
}

/** Calls the control API of the simulator. */
export async function controlSimulator<T>(
  url: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<T> {
  const answer = await fetch(`${url}/_control/${path}`, {
    method,
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
  });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status} ${await answer.text()}`);
  const text = await answer.text();
  return (text === "" ? undefined : JSON.parse(text)) as T;
}

/**
 * Starts a simulated platform for all tests of the calling file; each test begins with an empty
 * platform.
 */
export async function startTestPlatform(name: PlatformId): Promise<TestPlatform> {
  const platform = await TestPlatform.start(name);
  afterAll(() => platform[Symbol.asyncDispose]());
  beforeEach(() => platform.reset());
  return platform;
}

/** A simulated platform, with the operations that the tests of its connector need. */
export class TestPlatform implements AsyncDisposable {
  readonly url: string;
  readonly #platform: PlatformId;
  readonly #simulator: Simulator;

  readonly #recorded: readonly RecordedRequest[];
  readonly #time: { heldAt?: number | undefined };

  private constructor(
    platform: PlatformId,
    simulator: Simulator,
    recorded: readonly RecordedRequest[],
    time: { heldAt?: number | undefined },
  ) {
    this.#time = time;
    this.#platform = platform;
    this.#recorded = recorded;
    this.#simulator = simulator;
    this.url = `${simulator.url}/${platform}`;
  }

  static async start(platform: PlatformId): Promise<TestPlatform> {
    const recorded: RecordedRequest[] = [];
    const onCall = (id: string, call: Call) => {
      if (id === platform) recorded.push(recordRequest(call));
    };
    const time: { heldAt?: number | undefined } = {};
    const machineTime = () => time.heldAt ?? Date.now();
    const simulator = await startSimulator({ host: "127.0.0.1", port: 0, onCall, machineTime });
    return new TestPlatform(platform, simulator, recorded, time);
  }

  /**
   * Stops the simulated platform. Fails when a request that reached it does not agree with the
   * types or schemas of the platform's own client library.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#simulator[Symbol.asyncDispose]();
    const faults = await judgeRequests(this.#platform, this.#recorded);
    if (faults.length > 0)
      throw new Error(`requests that the client library cannot send:\n${faults.join("\n")}`);
  }

  async control<T = unknown>(method: string, path: string, body?: unknown): Promise<T> {
    return await controlSimulator<T>(this.#simulator.url, method, path, body);
  }

  /**
   * Stops the platform's clock until the next reset, except for the waits of preparation steps. The
   * number of waits then does not depend on the speed of the machine.
   */
  holdClock(): void {
    this.#time.heldAt = Date.now();
  }

  async reset(): Promise<void> {
    this.#time.heldAt = undefined;
    await this.control("POST", "reset");
    await this.control("POST", "settings", { quotas: false });
  }

  visible(): Promise<readonly Visible[]> {
    return this.control("GET", `visible?platform=${this.#platform}`);
  }

  /** Lists the requests that reached the simulated platform, oldest first. */
  listRequests(): Promise<readonly LoggedRequest[]> {
    return this.control("GET", `requests?platform=${this.#platform}`);
  }

  /**
   * Lists the requests that reached the simulated platform, oldest first, each as its method and
   * the end of its path.
   */
  async calls(): Promise<readonly string[]> {
    return (await this.listRequests()).map(
      ({ method, path }) => `${method} ${path.split(/[./]/).at(-1)}`,
    );
  }

  /** Returns the body of the newest request whose path ends with `end`. */
  lastBody(end: string): unknown {
    return this.#recorded.findLast(({ path }) => path.endsWith(end))?.body;
  }

  async addFault(
    operation: string,
    mode: string,
    extra: Readonly<Record<string, unknown>> = {},
  ): Promise<void> {
    const rule = { platform: this.#platform, operation, mode, ...extra };
    await this.control("POST", "faults", rule);
  }

  /**
   * Creates an account on the simulated platform and returns the credentials that its owner would
   * enter.
   */
  async createAccount(given: { readonly username?: string } = {}): Promise<SimulatedAccount> {
    const request = { ...given, platform: this.#platform };
    const made = await this.control<{ accounts: SimulatedAccount[] }>("POST", "accounts", request);
    const [account] = made.accounts;
    if (account === undefined) throw new Error("the simulator created no account");
    return account;
  }

  /**
   * Creates an account on the simulated platform, and the target that a connector receives for this
   * account.
   *
   * @param getToken Returns the access token for the credentials of the new account: by default,
   *   the one that they contain, or the one of a new Bluesky session.
   */
  async createPublication(
    media: Publication["media"],
    text: string,
    getToken = ({ accessToken, botToken, ...session }: SimulatedAccount["credentials"]) =>
      accessToken ?? botToken ?? createSession(this.url, session),
  ): Promise<Publication> {
    const account = await this.createAccount();
    return {
      targetId: "01936a5e-0000-7000-8000-000000000000",
      text,
      title: undefined,
      privacy: undefined,
      tags: [],
      settings: {},
      externalId: account.externalId,
      username: account.username,
      accessToken: await getToken(account.credentials),
      attributes: {},
      media,
    };
  }

  /**
   * Runs the preparation steps as the delivery service does; instead of waiting, it advances the
   * platform's clock.
   */
  async prepare(
    connector: PublishingConnector,
    publication: Publication,
    { handles: before = {}, maxRuns = 1000 }: { handles?: Handles; maxRuns?: number } = {},
  ): Promise<Ready> {
    let handles = before;
    const waits: number[] = [];
    let runs = 0;
    for (const step of connector.steps(publication)) {
      let isWaiting = !step.isDone(handles);
      while (isWaiting && runs < maxRuns) {
        runs += 1;
        const made = await step.run(publication, handles, signal);
        if (isFailure(made)) return { handles, failure: made, waits };
        isWaiting = made.kind === "wait";
        const added = made.kind === "wait" ? made.handles : made;
        handles = { ...handles, ...(added as Handles) };
        if (made.kind === "wait" && Number(made.afterMs) > 0) {
          waits.push(Number(made.afterMs));
          await this.control("POST", "clock", { advanceMs: made.afterMs });
        }
      }
    }
    return { handles, waits };
  }

  async publish(connector: PublishingConnector, publication: Publication): Promise<Outcome> {
    const { handles, failure } = await this.prepare(connector, publication);
    return failure ?? (await connector.publish(publication, handles, guard));
  }
}
