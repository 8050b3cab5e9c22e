import type { PlatformId } from "@postrider/platforms/platform-id";
import { createConnectors, type PublishingSettings } from "@postrider/platforms/platforms";
import type { PublishingConnector } from "@postrider/platforms/publishing/connector";
import { MediaServer } from "@postrider/platforms/test/media-server";
import { controlSimulator } from "@postrider/platforms/test/test-platform";
import { newId } from "@postrider/shared/ids";
import { openSql, type Sql } from "@postrider/shared/postgres";
import type { TestDatabase } from "@postrider/shared/testing/database";
import { eventually } from "@postrider/shared/testing/poll";
import { startSimulator, type Simulator } from "@postrider/simulator/simulator";
import { startClaimTasks } from "#src/publishing/jobs/claim-tasks/claim-tasks.ts";
import { openDatabase, publishingDeps, World, type TestTarget } from "../fixture.ts";
import { LIBRARY, type Row } from "./cases.ts";
import { CALL_MS, SCALE, toRules, type Fault, type Rule } from "./faults.ts";
import {
  isCertain,
  judge,
  setUnanswered,
  type End,
  type Judged,
  type Round,
  type Visible,
} from "./rounds.ts";

export const SETTINGS = {
  retryMs: [200, 400, 800, 1600, 3200, 3200],
  leaseMs: 2_000,
  accountPauseMs: [200, 400],
  visibleCallMs: CALL_MS,
  reconcileTimeScale: SCALE,
  // Most publishing calls of the fault matrix have an unknown outcome on purpose. If
  // `holdAfterUnknowns` were not 0, publishing to the platforms would be held back all the time.
  holdAfterUnknowns: 0,
  probeMs: [],
  maxPerPlatform: 64,
};

interface Issued {
  readonly externalId: string;
  readonly username: string;
  readonly credentials: Readonly<Record<string, string>>;
}

/** Changes a connector before it is passed to a worker. */
export type Wrap = (connector: PublishingConnector, stage: Stage, sql: Sql) => PublishingConnector;

/** The simulated platforms, with the accounts and targets of all rounds of the fault matrix. */
export class Stage implements AsyncDisposable {
  readonly world = new World();
  readonly rounds = new Map<string, Round>();
  /** Ids of posts on the platforms that do not belong to a round of the fault matrix. */
  readonly otherPosts = new Set<string>();
  readonly #simulator: Simulator;
  readonly #server: MediaServer;

  private constructor(simulator: Simulator, server: MediaServer) {
    this.#simulator = simulator;
    this.#server = server;
  }

  static async open(): Promise<Stage> {
    const simulator = await startSimulator({ host: "127.0.0.1", port: 0 });
    const server = await MediaServer.start();
    for (const media of LIBRARY) server.serve(media);
    const stage = new Stage(simulator, server);
    await stage.control("POST", "settings", {
      quotas: false,
      tiktokWholeVideoBytes: 0,
      // A second post must be seen and not refused.
      repeatedPosts: "accepted",
    });
    return stage;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#simulator[Symbol.asyncDispose]();
    await this.#server[Symbol.asyncDispose]();
  }

  get config(): PublishingSettings {
    const { url } = this.#simulator;
    const graph = (platform: PlatformId) => ({
      baseUrl: `${url}/${platform}`,
      uploadBaseUrl: `${url}/${platform}/rupload`,
      version: "v25.0",
    });
    return {
      instagram: { ...graph("instagram"), loginBaseUrl: `${url}/instagram/login` },
      facebook: graph("facebook"),
      x: { baseUrl: `${url}/x`, mayResend: true },
      // Splits even a small video into parts, so that the fault matrix sends few bytes.
      tiktok: {
        baseUrl: `${url}/tiktok`,
        chunkSizes: { wholeBytes: 0, chunkBytes: [5 * 1024 * 1024] },
      },
      telegram: { baseUrl: `${url}/telegram` },
      bluesky: { baseUrl: `${url}/bluesky`, videoBaseUrl: `${url}/bluesky` },
      youtube: { baseUrl: `${url}/youtube` },
    };
  }

  async control<T = unknown>(method: string, path: string, body?: unknown): Promise<T> {
    return await controlSimulator<T>(this.#simulator.url, method, path, body);
  }

  /**
   * Adds `count` rounds of a cell of the fault matrix, each with an account, a target and the
   * simulator rules of its fault.
   */
  async addRounds(row: Row, fault: Fault, count: number): Promise<readonly Round[]> {
    const { platform } = row.kind;
    const { accounts } = await this.control<{ accounts: Issued[] }>("POST", "accounts", {
      platform,
      count,
    });
    return await Promise.all(
      accounts.map(async (issued, index) => {
        const round = await this.#addRound(row, fault, issued);
        await this.addRules(round, toRules(fault, row, index));
        return round;
      }),
    );
  }

  async addRules(round: Pick<Round, "account">, rules: readonly Rule[]): Promise<void> {
    // Rules of the simulator are added in order, because a rule that lets earlier calls pass has to
    // precede the rule that breaks a call.
    for (const rule of rules)
      await this.control("POST", "faults", { ...rule, account: round.account });
  }

  async #addRound(row: Row, fault: Fault, issued: Issued): Promise<Round> {
    const { platform, media: own } = row.kind;
    const media = row.step.media ?? own;
    const target = this.world.addTarget({
      platform,
      media,
      text: `Ships & sails, round ${this.rounds.size} #sea`,
      ...(platform === "youtube" ? { title: `Round ${this.rounds.size}` } : {}),
      ...(platform === "tiktok" ? { privacy: "public" } : {}),
    });
    const { externalId, username, credentials } = issued;
    const { accessToken, botToken } = credentials;
    const token = accessToken ?? botToken ?? (await this.#createBlueskySession(credentials));
    Object.assign(this.world.account(target), { externalId, username, token });
    const round = { row, fault, target, media, account: externalId };
    this.rounds.set(target.targetId, round);
    return round;
  }

  async #createBlueskySession({ identifier, appPassword }: Issued["credentials"]): Promise<string> {
    const url = `${this.config.bluesky.baseUrl}/xrpc/com.atproto.server.createSession`;
    const answer = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ identifier, password: appPassword }),
    });
    return ((await answer.json()) as { accessJwt: string }).accessJwt;
  }

  /**
   * Lists the faults that no platform call met, so that their rounds tested nothing. The fault of
   * stale lists is left out, because not every connector reads lists.
   */
  async listUnmet(rounds: readonly Round[]): Promise<readonly string[]> {
    const rules = await this.control<(Rule & { account: string; hits: number })[]>("GET", "faults");
    const accounts = Map.groupBy(rounds, ({ account }) => account);
    return rules
      .filter(
        ({ hits, mode, account }) => hits === 0 && mode !== "stale_reads" && accounts.has(account),
      )
      .map(
        ({ platform, operation, mode, account }) => `${platform} ${account} ${operation} ${mode}`,
      );
  }

  async listVisible(): Promise<ReadonlyMap<string, readonly Visible[]>> {
    const all = await this.control<Visible[]>("GET", "visible");
    const ours = all.filter(({ id }) => !this.otherPosts.has(id));
    return Map.groupBy(ours, ({ platform, account }) => `${platform} ${account}`);
  }

  /** Waits until the platforms have finished everything that they do with a delay. */
  async untilArrived(rounds: readonly Round[]): Promise<void> {
    const accounts = new Set(
      rounds.filter(({ fault }) => fault.by === "simulator").map(({ account }) => account),
    );
    await eventually(async () => {
      const log = await this.control<{ outcome: string; account: string | null }[]>(
        "GET",
        "requests",
      );
      return log.every(
        ({ outcome, account }) => outcome !== "pending" || !accounts.has(account ?? ""),
      );
    });
  }

  /** Determines how the rounds of the fault matrix ended. */
  async judgeAll(sql: Sql, rounds: readonly Round[]): Promise<readonly Judged[]> {
    await this.untilArrived(rounds);
    const [visible, ends] = [await this.listVisible(), await readEnds(sql)];
    return rounds.map((round) => {
      const { targetId, platform } = round.target;
      const end = ends.get(targetId) ?? { status: "missing", externalId: null, errorCode: null };
      const entries = visible.get(`${platform} ${round.account}`) ?? [];
      return { round, judgement: judge(round, end, entries) };
    });
  }
}

async function readEnds(sql: Sql): Promise<ReadonlyMap<string, End>> {
  const rows = await sql<(End & { targetId: string })[]>`
    select target_id, status, external_id, error_code
    from publish_tasks`;
  return new Map(rows.map(({ targetId, ...end }) => [targetId, end]));
}

export async function countTasks(sql: Sql, statuses: readonly string[]): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count
    from publish_tasks
    where status in ${sql(statuses)}`;
  return row?.count ?? 0;
}

/** Counts the publish tasks that a worker holds or would claim now. */
export async function countAtWork(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count
    from publish_tasks
    where status = 'working'
    or status = 'queued' and wake_at <= now()`;
  return row?.count ?? 0;
}

/** Maximum time until all targets have ended. A target that has not ended by then is stuck. */
const MAX_MS = 1_200_000;
/** Maximum time until the outcome of a target that must be published is recorded. */
const FACTS_MS = 60_000;

async function waitUntil(check: () => Promise<boolean>, timeoutMs: number): Promise<void> {
  // A target that has not ended after `timeoutMs` is evaluated in its current state.
  await eventually(check, { timeoutMs }).catch(() => undefined);
}

/** Waits until the target of every round of the fault matrix has ended. */
export async function untilEnded(
  sql: Sql,
  rounds: readonly Round[],
  { factsMs = FACTS_MS }: { readonly factsMs?: number } = {},
): Promise<void> {
  await waitUntil(
    async () => (await countTasks(sql, ["published", "failed"])) >= rounds.length,
    MAX_MS,
  );
  const certain = rounds.filter(isCertain);
  await waitUntil(async () => {
    const ends = await readEnds(sql);
    return certain.every(({ target }) => ends.get(target.targetId)?.status === "published");
  }, factsMs);
}

export const openMatrixDatabase = (): Promise<TestDatabase> => openDatabase(3);

/**
 * Wraps a connector so that it records the publishing calls that get no answer only because the
 * machine of the test is slow.
 */
function watched(connector: PublishingConnector, stage: Stage): PublishingConnector {
  return {
    ...connector,
    publish: async (publication, handles, guard) => {
      const outcome = await connector.publish(publication, handles, guard);
      const round = stage.rounds.get(publication.targetId);
      if (round?.fault.isCertain === true && outcome.kind === "unknown") setUnanswered(round);
      return outcome;
    },
  };
}

/** Starts a worker in the test process with a connection pool of its own. */
export function startMatrixWorker(
  stage: Stage,
  database: TestDatabase,
  wrap?: Wrap,
): AsyncDisposable {
  const sql = openSql({ url: database.url, poolSize: 4, applicationName: "test-matrix" });
  const made = Object.values(createConnectors("publishing", stage.config)).map((created) => {
    const connector = watched(created, stage);
    const wrapped = wrap === undefined ? connector : wrap(connector, stage, sql);
    return [connector.platform, wrapped] as const;
  });
  const claims = startClaimTasks({
    ...publishingDeps(stage.world, sql, {
      settings: SETTINGS,
      connectors: Object.fromEntries(made),
    }),
    media: {
      describe: ({ id }) => findFile(id),
      prepare: (items) =>
        Promise.resolve(items.map(({ media }) => ({ kind: "file", media: findFile(media.id) }))),
    },
    owner: newId(),
  });
  return {
    [Symbol.asyncDispose]: async () => {
      await claims[Symbol.asyncDispose]();
      await sql.end({ timeout: 1 });
    },
  };
}

function findFile(id: string) {
  return LIBRARY.find((one) => one.id === id) ?? fail(id);
}

function fail(id: string): never {
  throw new Error(`no round has the file ${id}`);
}

export function targetsOf(rounds: readonly Round[]): readonly TestTarget[] {
  return rounds.map(({ target }) => target);
}
