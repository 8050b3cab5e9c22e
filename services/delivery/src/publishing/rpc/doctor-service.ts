import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Client, ServiceImpl } from "@connectrpc/connect";
import type { Account } from "@postrider/contracts/accounts/v1/account_pb";
import type { Credential } from "@postrider/contracts/accounts/v1/credential_service_pb";
import type {
  DoctorService,
  StartLiveCheckRequest,
} from "@postrider/contracts/delivery/v1/doctor_service_pb";
import type { Media } from "@postrider/contracts/media/v1/media_pb";
import type { MediaService } from "@postrider/contracts/media/v1/media_service_pb";
import { TargetContentSchema } from "@postrider/contracts/posts/v1/target_service_pb";
import type { AccountChecks } from "@postrider/platforms/diagnosis/account-checks";
import { type LeastVisible, liveCheckText } from "@postrider/platforms/diagnosis/least-visible";
import { isPlatformId, type PlatformId } from "@postrider/platforms/platform-id";
import { PLATFORM_FACTS } from "@postrider/platforms/registry";
import { appendAudit } from "@postrider/shared/audit/append";
import type { DeploymentGuard } from "@postrider/shared/deployment/guard";
import { type Finding, runChecks } from "@postrider/shared/diagnostics/finding";
import { conflict, invalidRequest, notFound } from "@postrider/shared/errors";
import { assertIds, isId, newId } from "@postrider/shared/ids";
import type { Sql } from "@postrider/shared/postgres";
import {
  type AccountRef,
  type AccountsClients,
  fetchCredential,
  findConnectedAccount,
} from "#src/clients/accounts.ts";
import { findLiveCheck, insertLiveCheck } from "#src/publishing/db/live-checks.ts";
import { endOf, mayBeLeft, toSteps } from "#src/publishing/domain/live-check.ts";

interface CheckedAccount {
  readonly platform: PlatformId;
  readonly account: Account;
  readonly credential: Credential;
}

/** @throws ServiceError `not_found` for an unknown or disconnected account. */
async function getCheckedAccount(
  accounts: AccountsClients,
  ref: AccountRef,
): Promise<CheckedAccount> {
  const account = await findConnectedAccount(accounts, ref);
  if (account === undefined || !isPlatformId(account.platform)) throw notFound();
  const credential = await fetchCredential(accounts, ref);
  return { platform: account.platform, account, credential };
}

async function diagnoseAccount(
  { platform, account, credential }: CheckedAccount,
  checks: Readonly<Record<PlatformId, AccountChecks>>,
): Promise<readonly Finding[]> {
  const guide = `platforms/${platform}.md`;
  const own = [findConnection(credential), findPermissions(account)];
  const isUsable = credential.accountStatus === "active";
  const onPlatform = isUsable ? await runChecks(checks[platform](credential)) : [];
  return [...own, ...onPlatform].map((finding) => ({ guide, ...finding }));
}

function findConnection({ accountStatus, username, expiresAt }: Credential): Finding {
  const name = "connection";
  if (accountStatus !== "active")
    return {
      name,
      status: "failed",
      found: `the account has the status ${accountStatus}`,
      remedy: "connect the account again with `postrider account connect`",
    };
  const expiry =
    expiresAt === undefined
      ? "the token does not expire"
      : `the token expires at ${new Date(Number(expiresAt.seconds) * 1000).toISOString()} and is renewed before`;
  return { name, status: "ok", found: `the account ${username} is connected; ${expiry}` };
}

function findPermissions({ permissions }: Account): Finding {
  const name = "permissions";
  const remedy = "connect the account again and allow everything that the platform asks";
  if (permissions === undefined)
    return {
      name,
      status: "warning",
      found: "the account was connected before permissions were recorded",
      remedy,
    };
  const { granted, missing, missingScopes } = permissions;
  const found = `the account may be used for ${granted.join(", ") || "nothing"}`;
  if (missing.length === 0 && granted.includes("publishing")) return { name, status: "ok", found };
  const scopes = missingScopes.length === 0 ? "" : ` (not granted: ${missingScopes.join(", ")})`;
  const lack = missing.length === 0 ? "" : `, but not for ${missing.join(", ")}${scopes}`;
  const status = granted.includes("publishing") ? "warning" : "failed";
  return { name, status, found: `${found}${lack}`, remedy };
}

interface DoctorDependencies {
  readonly sql: Sql;
  readonly accounts: AccountsClients;
  readonly media: Pick<Client<typeof MediaService>, "batchGetMedia">;
  readonly checks: Readonly<Record<PlatformId, AccountChecks>>;
  readonly guard: Pick<DeploymentGuard, "isOwn">;
}

/**
 * Returns the media of the post; empty if it needs none.
 *
 * @throws ServiceError If readers of the platform would see the post and the request does not allow
 *   that, or if the media are missing.
 */
async function parseMedia(
  { media: service }: DoctorDependencies,
  { platform, account: { workspaceId } }: CheckedAccount,
  { allowPublic, mediaId }: StartLiveCheckRequest,
): Promise<readonly Media[]> {
  const { visibility, needs }: LeastVisible = PLATFORM_FACTS[platform].liveCheck;
  if (visibility === "readers" && !allowPublic)
    throw invalidRequest([{ code: "public_post", path: "/allowPublic" }]);
  if (needs === undefined) return [];
  if (mediaId === "") throw invalidRequest([{ code: `${needs}_required`, path: "/mediaId" }]);
  assertIds(mediaId);
  const { media } = await service.batchGetMedia({ workspaceId, ids: [mediaId] });
  const found = media.find(({ status }) => status === "ready");
  if (found === undefined) throw notFound();
  if (needs === "video" && found.kind !== "video")
    throw invalidRequest([{ code: "video_required", path: "/mediaId" }]);
  return [found];
}

/** Requests a target; workers publish and delete it like every other. */
async function startLiveCheck(deps: DoctorDependencies, request: StartLiveCheckRequest) {
  const checked = await getCheckedAccount(deps.accounts, request);
  const { platform, account, credential } = checked;
  if (credential.accountStatus !== "active") throw conflict("account_reconnect_required");
  const media = await parseMedia(deps, checked, request);
  if (!(await deps.guard.isOwn())) throw conflict("publishing_held");
  const id = newId();
  // The last characters of an id are random, so the text of the post is unique.
  const suffix = id.slice(-8);
  const { privacy }: LeastVisible = PLATFORM_FACTS[platform].liveCheck;
  const content = create(TargetContentSchema, {
    wanted: true,
    text: liveCheckText(suffix),
    title: `Postrider check ${suffix}`,
    media: [...media],
    settings: account.settings,
    ...(privacy === undefined ? {} : { privacy }),
  });
  const { id: accountId, workspaceId } = account;
  const subject = { type: "account", id: accountId } as const;
  const details = { platform, liveCheckId: id };
  await deps.sql.begin(async (tx) => {
    if (!(await insertLiveCheck(tx, { id, workspaceId, accountId, platform, content })))
      throw conflict("publishing_paused");
    await appendAudit(tx, [{ action: "account.check_live", subject, workspaceId, details }]);
  });
  return { id };
}

async function getLiveCheck({ sql }: DoctorDependencies, id: string) {
  const check = isId(id) ? await findLiveCheck(sql, id) : undefined;
  if (check === undefined) throw notFound();
  const endedAt = endOf(check);
  const isLeft = mayBeLeft(check);
  const { externalId, permalink } = check.task;
  return {
    text: check.text,
    steps: toSteps(check).map((step) => ({ ...step })),
    mayBeLeft: isLeft,
    ...(endedAt === undefined ? {} : { endedAt: timestampFromDate(endedAt) }),
    ...(externalId === null || !isLeft ? {} : { externalId }),
    ...(permalink === null || !isLeft ? {} : { permalink }),
  };
}

export function createDoctorService(deps: DoctorDependencies) {
  return {
    async diagnoseAccount(request) {
      const checked = await getCheckedAccount(deps.accounts, request);
      return { findings: [...(await diagnoseAccount(checked, deps.checks))] };
    },
    startLiveCheck: (request) => startLiveCheck(deps, request),
    getLiveCheck: ({ id }) => getLiveCheck(deps, id),
  } satisfies ServiceImpl<typeof DoctorService>;
}
