import { DoctorService } from "@postrider/contracts/delivery/v1/doctor_service_pb";
import { notFound } from "@postrider/shared/errors";
import { getPositional, type Arguments, type Result, type Terminal } from "#src/command.ts";
import { checkLive } from "#src/doctor/check-live.ts";
import { toFinding, toResult } from "#src/doctor/findings.ts";
import { UsageError } from "#src/failures.ts";
import { findAccount } from "#src/find-account.ts";
import type { Services } from "#src/services.ts";

/** Checks an account on its platform; with `--live` also by publishing, reading and deleting one post. */
export async function checkAccount(
  services: Services,
  args: Arguments,
  terminal: Terminal,
): Promise<Result> {
  const { live, public: isPublic, yes, media } = args.values;
  if (live !== true && (isPublic === true || yes === true || media !== undefined))
    throw new UsageError("--public, --yes and --media are options of --live");
  const account = await findAccount(services, getPositional(args));
  if (account === undefined) throw notFound();
  const ref = { workspaceId: account.workspaceId, accountId: account.id };
  if (live === true) return await checkLive(services, args, terminal, account);
  const { findings } = await services.client("delivery", DoctorService).diagnoseAccount(ref);
  const { id, platform, username } = account;
  return toResult(
    findings.map((finding) => toFinding(platform, finding)),
    { account: { id, platform, username } },
  );
}
