import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type {
  DoctorService,
  StartLiveCheckRequest,
} from "@postrider/contracts/delivery/v1/doctor_service_pb";
import type { AccountChecks } from "@postrider/platforms/diagnosis/account-checks";
import type { LeastVisible } from "@postrider/platforms/diagnosis/live/least-visible";
import type { PlatformId } from "@postrider/platforms/platform-id";
import { PLATFORM_FACTS } from "@postrider/platforms/registry";
import { conflict, invalidRequest, notFound } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import type { Sql } from "@postrider/shared/postgres";
import type { AccountsClients } from "#src/clients/accounts.ts";
import { findLiveCheck } from "#src/publishing/db/live-checks.ts";
import {
  diagnoseAccount,
  getCheckedAccount,
  type CheckedAccount,
} from "#src/publishing/operations/account-diagnosis.ts";
import type { FindLiveCheckFile } from "#src/publishing/operations/live-check-files.ts";
import type { LiveCheckFile, LiveChecks } from "#src/publishing/operations/live-checks.ts";

export interface DoctorDependencies {
  readonly sql: Sql;
  readonly accounts: AccountsClients;
  readonly checks: Readonly<Record<PlatformId, AccountChecks>>;
  readonly liveChecks: LiveChecks;
  readonly findFile: FindLiveCheckFile;
}

/**
 * Returns the media file for the post of a live check; undefined if the post needs no media.
 *
 * @throws ServiceError If readers of the platform would see the post and the request does not allow
 *   that, or if the media are missing.
 */
async function parseFile(
  { findFile }: DoctorDependencies,
  checked: CheckedAccount,
  { allowPublic, mediaId }: StartLiveCheckRequest,
): Promise<LiveCheckFile | undefined> {
  const { visibility, needs }: LeastVisible = PLATFORM_FACTS[checked.platform].liveCheck;
  if (visibility === "readers" && !allowPublic)
    throw invalidRequest([{ code: "public_post", path: "/allowPublic" }]);
  if (needs === undefined) return undefined;
  if (mediaId === "") throw invalidRequest([{ code: `${needs}_required`, path: "/mediaId" }]);
  if (!isId(mediaId)) throw notFound();
  const media = await findFile(checked, mediaId);
  if (needs === "video" && media.kind !== "video")
    throw invalidRequest([{ code: "video_required", path: "/mediaId" }]);
  return { mediaId, media };
}

async function startLiveCheck(deps: DoctorDependencies, request: StartLiveCheckRequest) {
  const checked = await getCheckedAccount(deps.accounts, request);
  const { accountStatus } = checked.credential;
  if (accountStatus !== "active") throw conflict("account_reconnect_required");
  const file = await parseFile(deps, checked, request);
  return { id: await deps.liveChecks.start(checked, file) };
}

export function createDoctorService(deps: DoctorDependencies) {
  return {
    async diagnoseAccount(request) {
      const checked = await getCheckedAccount(deps.accounts, request);
      return { findings: [...(await diagnoseAccount(checked, deps.checks))] };
    },
    startLiveCheck: (request) => startLiveCheck(deps, request),
    async getLiveCheck({ id }) {
      const check = isId(id) ? await findLiveCheck(deps.sql, id) : undefined;
      if (check === undefined) throw notFound();
      const { text, steps, calledAt, endedAt, externalId, permalink } = check;
      return {
        text,
        steps: steps.map((step) => ({ ...step })),
        ...(calledAt === null ? {} : { calledAt: timestampFromDate(calledAt) }),
        ...(endedAt === null ? {} : { endedAt: timestampFromDate(endedAt) }),
        ...(externalId === null ? {} : { externalId }),
        ...(permalink === null ? {} : { permalink }),
      };
    },
  } satisfies ServiceImpl<typeof DoctorService>;
}
