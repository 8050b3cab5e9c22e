import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Client, ServiceImpl } from "@connectrpc/connect";
import type {
  DoctorService,
  StartLiveCheckRequest,
} from "@postrider/contracts/delivery/v1/doctor_service_pb";
import type { Media } from "@postrider/contracts/media/v1/media_pb";
import type { MediaService } from "@postrider/contracts/media/v1/media_service_pb";
import { TargetContentSchema } from "@postrider/contracts/posts/v1/target_service_pb";
import type { AccountChecks } from "@postrider/platforms/diagnosis/account-checks";
import { liveCheckText, type LeastVisible } from "@postrider/platforms/diagnosis/least-visible";
import type { PlatformId } from "@postrider/platforms/platform-id";
import { PLATFORM_FACTS } from "@postrider/platforms/registry";
import { appendAudit } from "@postrider/shared/audit/append";
import type { DeploymentGuard } from "@postrider/shared/deployment/guard";
import { conflict, invalidRequest, notFound } from "@postrider/shared/errors";
import { assertIds, isId, newId } from "@postrider/shared/ids";
import type { Sql } from "@postrider/shared/postgres";
import type { AccountsClients } from "#src/clients/accounts.ts";
import { findLiveCheck, insertLiveCheck } from "#src/publishing/db/live-checks.ts";
import { endOf, mayBeLeft, toSteps } from "#src/publishing/domain/live-check.ts";
import {
  diagnoseAccount,
  getCheckedAccount,
  type CheckedAccount,
} from "#src/publishing/operations/account-diagnosis.ts";

export interface DoctorDependencies {
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
