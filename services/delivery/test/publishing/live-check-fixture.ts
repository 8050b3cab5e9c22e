import { AccountService } from "@postrider/contracts/accounts/v1/account_service_pb";
import { CredentialService } from "@postrider/contracts/accounts/v1/credential_service_pb";
import { DoctorService } from "@postrider/contracts/delivery/v1/doctor_service_pb";
import { MediaService } from "@postrider/contracts/media/v1/media_service_pb";
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
import { createPublishingGuard } from "#src/publishing/operations/publishing-guard.ts";
import { createDoctorService } from "#src/publishing/rpc/doctor-service.ts";
import {
  DEPLOYMENT,
  logger,
  openDatabase,
  startWorker,
  toContentMedia,
  World,
  type TestTarget,
  type TestWorker,
  type WorkerOptions,
} from "./fixture.ts";

const platforms = new Map<PlatformId, TestPlatform>();
let files: Awaited<ReturnType<typeof startMediaServer>>;
/** The database of the test file that uses this fixture. */
export let database: TestDatabase;

/** Starts the simulated platforms, a media server and a database, and stops them at the end. */
export async function useLiveChecks(): Promise<void> {
  files = await startMediaServer();
  for (const platform of PLATFORM_IDS) platforms.set(platform, await startTestPlatform(platform));
  beforeAll(async () => {
    database = await openDatabase();
  });
  afterAll(() => database[Symbol.asyncDispose]());
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

function mediaOf(platform: PlatformId) {
  if (platform === "instagram") return [files.serve(jpegMedia(1))];
  return platform === "youtube" || platform === "tiktok" ? [mp4Media(1000)] : [];
}

/** An account on a simulated platform, and the RPCs with which an operator checks it. */
export async function open(platform: PlatformId) {
  const world = new World();
  const simulated = await platformOf(platform).createAccount();
  const { externalId, username, credentials } = simulated;
  const token =
    platform === "bluesky"
      ? await createSession(platformOf(platform).url, credentials)
      : (credentials.accessToken ?? credentials.botToken ?? "");
  const media = mediaOf(platform);
  const target = world.addTarget({ platform, media });
  Object.assign(world.account(target), { externalId, username, token });
  const { workspaceId, accountId } = target;
  const account = { id: accountId, workspaceId, platform, status: "active" };
  const permissions = { granted: ["publishing"] };
  const owners = createTestPeer((router) => {
    router.service(AccountService, {
      batchGetAccounts: ({ refs }) => ({
        accounts: refs.some((each) => each.accountId === accountId)
          ? [{ ...account, permissions }]
          : [],
      }),
    });
    router.service(MediaService, {
      batchGetMedia: () => ({
        media: media.map((one) => ({ ...toContentMedia(workspaceId, one), status: "ready" })),
      }),
    });
  });
  const { sql } = database;
  const settings = settingsOf(platform);
  const service = createDoctorService({
    sql,
    accounts: {
      accounts: owners.client(AccountService),
      credentials: createTestPeer(world.routes).client(CredentialService),
    },
    media: owners.client(MediaService),
    checks: createConnectors("diagnosis", settings),
    guard: createPublishingGuard({ sql, logger, deploymentId: DEPLOYMENT }),
  });
  const doctor = createTestPeer((router) => router.service(DoctorService, service));
  const connector = createConnectors("publishing", settings)[platform];
  const request = { workspaceId, accountId, allowPublic: true, mediaId: newId() };
  return { world, target, connector, request, client: doctor.client(DoctorService) };
}

export type Opened = Awaited<ReturnType<typeof open>>;

/** Starts a process that publishes and deletes the posts of live checks. */
export function startProcess(
  { world, target, connector }: Pick<Opened, "world" | "target" | "connector">,
  { settings, ...options }: WorkerOptions = {},
): TestWorker {
  return startWorker(database, world, {
    connectors: { [target.platform]: connector },
    settings: { leaseMs: 20_000, reconcileTimeScale: 0.002, ...settings },
    ...options,
  });
}

/** Waits until a live check has ended. */
export async function whenEnded({ client }: Pick<Opened, "client">, id: string) {
  return await eventually(async () => {
    const state = await client.getLiveCheck({ id });
    return state.endedAt === undefined ? false : state;
  });
}

/** Makes a live check, and returns its state at its end. */
export async function check(opened: Opened, options: WorkerOptions = {}) {
  await using _process = startProcess(opened, options);
  const { id } = await opened.client.startLiveCheck(opened.request);
  return await whenEnded(opened, id);
}

/** The target of a live check, for the functions that read tasks. */
export function targetOf({ target }: Opened, id: string): TestTarget {
  return { ...target, targetId: id, postId: id };
}

export function namesOf({
  steps,
}: {
  readonly steps: readonly { readonly name: string; readonly status: string }[];
}): readonly string[] {
  return steps.map(({ name, status }) => `${name}: ${status}`);
}
