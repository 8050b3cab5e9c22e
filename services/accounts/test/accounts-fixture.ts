import type { TestDatabase } from "@postrider/shared/testing/database";
import type { Simulator } from "@postrider/simulator/simulator";
import { afterAll, beforeAll, beforeEach } from "vitest";
import {
  createApp,
  createDatabase,
  createSimulator,
  type AccountsApp,
  type AppOptions,
} from "./accounts-app.ts";

/** The part of the simulator's control API that these tests use. */
interface SimulatorControl {
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

function createSimulatorControl(simulatorUrl: string): SimulatorControl {
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

/** A reference to an account, as RPC requests contain it. */
export interface AccountRef {
  readonly workspaceId: string;
  readonly accountId: string;
}

interface Started {
  readonly database: TestDatabase;
  readonly simulator: Simulator;
  readonly control: SimulatorControl;
  readonly app: AccountsApp;
}

/**
 * A database, a simulator and one replica of the accounts service for a test file, with a new
 * workspace for each test.
 */
class AccountsFixture {
  readonly #options: AppOptions;
  #started: Started | undefined;
  #workspaceId = "";

  constructor(options: AppOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const [database, simulator] = await Promise.all([createDatabase(12), createSimulator()]);
    const control = createSimulatorControl(simulator.url);
    const app = createApp(database, { simulatorUrl: simulator.url, ...this.#options });
    this.#started = { database, simulator, control, app };
  }

  async reset(): Promise<void> {
    await this.control.reset();
    this.#workspaceId = await this.createWorkspace();
  }

  async stop(): Promise<void> {
    const { app, database, simulator } = this.#get();
    await app[Symbol.asyncDispose]();
    await Promise.all([database[Symbol.asyncDispose](), simulator[Symbol.asyncDispose]()]);
  }

  #get(): Started {
    if (this.#started === undefined) throw new Error("the fixture is used before it is started");
    return this.#started;
  }

  get sql() {
    return this.#get().database.sql;
  }

  get database(): TestDatabase {
    return this.#get().database;
  }

  get simulatorUrl(): string {
    return this.#get().simulator.url;
  }

  get control(): SimulatorControl {
    return this.#get().control;
  }

  get app(): AccountsApp {
    return this.#get().app;
  }

  get workspaceId(): string {
    return this.#workspaceId;
  }

  /**
   * Creates another replica of the accounts service on the same database; the test must dispose of
   * it.
   */
  createReplica(options: AppOptions = {}): AccountsApp {
    return createApp(this.database, { simulatorUrl: this.simulatorUrl, ...options });
  }

  async createWorkspace(): Promise<string> {
    const { workspace } = await this.app.workspaces.createWorkspace({ name: "Test" });
    return workspace?.id ?? "";
  }

  async connectMany(platform: string, count: number): Promise<readonly AccountRef[]> {
    const { workspaceId } = this;
    const request = { workspaceId, platform, count };
    const { accounts } = await this.app.accounts.connectSimulatedAccounts(request);
    return accounts.map(({ id }) => ({ workspaceId, accountId: id }));
  }

  /**
   * Connects one simulated account. A username that was connected before selects the same external
   * account.
   */
  async connect(
    platform: string,
    username?: string,
    workspaceId = this.workspaceId,
  ): Promise<AccountRef> {
    const { accounts } = await this.app.accounts.connectSimulatedAccounts({
      workspaceId,
      platform,
      count: 1,
      ...(username === undefined ? {} : { username }),
    });
    const [account] = accounts;
    if (account === undefined) throw new Error(`no account of ${platform} was connected`);
    return { workspaceId, accountId: account.id };
  }

  /** The accounts as posts are checked against them. */
  async listPostingAccounts(refs: readonly AccountRef[]) {
    const workspaces = refs.map(({ workspaceId, accountId }) => ({
      workspaceId,
      accountIds: [accountId],
    }));
    const { accounts } = await this.app.accounts.batchGetPostingAccounts({ workspaces });
    return JSON.parse(accounts) as Readonly<Record<string, unknown>>[];
  }

  async credentialsOf(refs: readonly AccountRef[], from: AccountsApp = this.app) {
    const { credentials } = await from.credentials.batchGetCredentials({ refs: [...refs] });
    return credentials;
  }

  async credentialOf(ref: AccountRef, from: AccountsApp = this.app) {
    const [credential] = await this.credentialsOf([ref], from);
    return credential;
  }

  /**
   * Changes the stored times of the accounts' access tokens, as if the tokens, which have a
   * lifetime of two hours, were `minutes` old.
   */
  async ageTokens(refs: readonly AccountRef[], minutes: number): Promise<void> {
    const ids = refs.map(({ accountId }) => accountId);
    await this.sql`
      update credentials
      set issued_at = now() - ${minutes}::int * interval '1 minute',
        expires_at = now() + ${120 - minutes}::int * interval '1 minute'
      where account_id = any(${ids}::uuid[])`;
  }

  async expireTokens(refs: readonly AccountRef[]): Promise<void> {
    await this.ageTokens(refs, 121);
  }

  async isTokenAcceptedByX(accessToken: string | undefined): Promise<boolean> {
    const headers = { authorization: `Bearer ${accessToken}` };
    return (await fetch(`${this.simulatorUrl}/x/2/users/me`, { headers })).status === 200;
  }
}

/**
 * Sets up a database, a simulator and an accounts service before the tests of the calling file, and
 * stops them after the tests.
 */
export function setUpAccounts(options: AppOptions = {}): AccountsFixture {
  const fixture = new AccountsFixture(options);
  beforeAll(() => fixture.start());
  beforeEach(() => fixture.reset());
  afterAll(() => fixture.stop());
  return fixture;
}
