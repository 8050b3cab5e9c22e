import { AccountService } from "@postrider/contracts/accounts/v1/account_service_pb";
import { CredentialService } from "@postrider/contracts/accounts/v1/credential_service_pb";
import { DoctorService } from "@postrider/contracts/delivery/v1/doctor_service_pb";
import type { LiveCheckContext } from "@postrider/platforms/diagnosis/live/check-context";
import { PROCESS_CLOCKS } from "@postrider/platforms/http/send-once";
import { PLATFORM_IDS, type PlatformId } from "@postrider/platforms/platform-id";
import { createConnectors } from "@postrider/platforms/platforms";
import { createSession } from "@postrider/platforms/test/bluesky/create-session";
import { jpegMedia, startMediaServer } from "@postrider/platforms/test/media-server";
import { mp4Media } from "@postrider/platforms/test/test-media";
import { startTestPlatform, type TestPlatform } from "@postrider/platforms/test/test-platform";
import { newId } from "@postrider/shared/ids";
import type { TestDatabase } from "@postrider/shared/testing/database";
import { eventually } from "@postrider/shared/testing/poll";
import { createTestPeer } from "@postrider/shared/testing/router";
import { afterAll, beforeAll } from "vitest";
import type { LiveCheckDeps } from "#src/publishing/operations/live-check-context.ts";
import { LiveChecks } from "#src/publishing/operations/live-checks.ts";
import { createPublishingGuard } from "#src/publishing/operations/publishing-guard.ts";
import { createDoctorService } from "#src/publishing/rpc/doctor-service.ts";
import { DEPLOYMENT, logger, openDatabase } from "./fixture.ts";

const platforms = new Map<PlatformId, TestPlatform>();
let files: Awaited<ReturnType<typeof startMediaServer>>;
/** The database of the test file that uses this fixture. */
export let database: TestDatabase;
const opened: LiveChecks[] = [];

/**
 * Starts the simulated platforms, a media server and a database for the live checks of a test file,
 * and stops them after its tests. Each test file calls this function itself, because the files of
 * one worker share this module.
 */
export async function useLiveChecks(): Promise<void> {
  files = await startMediaServer();
  for (const platform of PLATFORM_IDS) platforms.set(platform, await startTestPlatform(platform));
  beforeAll(async () => {
    database = await openDatabase();
  });
  afterAll(async () => {
    await Promise.all(opened.splice(0).map((checks) => checks[Symbol.asyncDispose]()));
    await database[Symbol.asyncDispose]();
  });
}

export function platformOf(platform: PlatformId): TestPlatform {
  const found = platforms.get(platform);
  if (found === undefined) throw new Error("no such platform");
  return found;
}

function settingsOf(platform: PlatformId) {
  const at = { baseUrl: platformOf(platform).url };
  const graph = { ...at, uploadBaseUrl: `${at.baseUrl}/rupload`, version: "v25.0" };
  return {
    instagram: { ...graph, loginBaseUrl: `${at.baseUrl}/login` },
    x: { ...at, mayResend: true },
    facebook: { ...graph, isTwoPhase: false },
    tiktok: at,
    youtube: at,
    telegram: at,
    bluesky: { ...at, videoBaseUrl: at.baseUrl },
  };
}

/** Those dependencies of live checks that a test may replace. */
type Replaced = Partial<
  Pick<LiveCheckDeps, "guard" | "patienceMs"> & Pick<LiveCheckContext, "openPermalink">
>;

/** An account on a simulated platform, and the RPCs with which an operator checks it. */
export async function open(platform: PlatformId, { openPermalink, ...replaced }: Replaced = {}) {
  const ref = { workspaceId: newId(), accountId: newId() };
  const simulated = await platformOf(platform).createAccount();
  const { externalId, username, credentials } = simulated;
  const accessToken =
    platform === "bluesky"
      ? await createSession(platformOf(platform).url, credentials)
      : (credentials.accessToken ?? credentials.botToken ?? "");
  const { workspaceId, accountId } = ref;
  const account = {
    id: accountId,
    workspaceId,
    platform,
    status: "active",
    permissions: { granted: ["publishing"] },
  };
  const credential = { ref, accountStatus: "active", externalId, username, accessToken };
  const accounts = createTestPeer((router) => {
    router.service(AccountService, {
      batchGetAccounts: ({ refs }) => ({
        accounts: refs.some((each) => each.accountId === accountId) ? [account] : [],
      }),
    });
    router.service(CredentialService, {
      batchGetCredentials: () => ({ credentials: [{ ...credential, version: 1n }] }),
    });
  });
  const settings = settingsOf(platform);
  const { sql } = database;
  const clients = {
    accounts: accounts.client(AccountService),
    credentials: accounts.client(CredentialService),
  };
  const findFile = () =>
    Promise.resolve(platform === "instagram" ? files.serve(jpegMedia(1)) : mp4Media(1000));
  const deps: LiveCheckDeps = {
    sql,
    logger,
    guard: createPublishingGuard({ sql, logger, deploymentId: DEPLOYMENT }),
    accounts: clients,
    findFile,
    connectors: createConnectors("livePublishing", settings),
    clocks: PROCESS_CLOCKS,
    leaseMs: 60_000,
    visibleCallMs: 60_000,
    patienceMs: 3_000,
    findOpener: () => openPermalink ?? (() => Promise.resolve(200)),
  };
  const liveChecks = new LiveChecks({ ...deps, ...replaced });
  opened.push(liveChecks);
  const service = createDoctorService({
    sql,
    accounts: clients,
    checks: createConnectors("diagnosis", settings),
    liveChecks,
    findFile,
  });
  const doctor = createTestPeer((router) => router.service(DoctorService, service));
  /** Creates another process of the delivery service for the same account and database. */
  const startOther = (): LiveChecks => {
    const other = new LiveChecks(deps);
    opened.push(other);
    return other;
  };
  return { ref, client: doctor.client(DoctorService), liveChecks, credential, startOther };
}

export type Opened = Awaited<ReturnType<typeof open>>;

/** Waits until a live check has ended. */
export async function whenEnded({ client }: Pick<Opened, "client">, id: string) {
  return await eventually(async () => {
    const state = await client.getLiveCheck({ id });
    return state.endedAt === undefined ? false : state;
  });
}

/** Makes a live check, and returns its state at its end. */
export async function check(
  { client, ref }: Opened,
  given: { readonly allowPublic?: boolean } = {},
) {
  const request = { ...ref, allowPublic: true, mediaId: newId(), ...given };
  const { id } = await client.startLiveCheck(request);
  return await whenEnded({ client }, id);
}
