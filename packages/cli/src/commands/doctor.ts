import { DoctorService } from "@postrider/contracts/delivery/v1/doctor_service_pb";
import { notFound } from "@postrider/shared/errors";
import {
  type Arguments,
  type Command,
  getPositional,
  type Result,
  type Terminal,
} from "#src/command.ts";
import { checkInstallation } from "#src/doctor/check-installation.ts";
import { checkLive } from "#src/doctor/check-live.ts";
import { toFinding, toResult } from "#src/doctor/findings.ts";
import { UsageError } from "#src/failures.ts";
import { findAccount } from "#src/find-account.ts";
import type { Services } from "#src/services.ts";

async function checkAccount(
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

export const doctorCommands: readonly Command[] = [
  {
    words: "doctor config",
    synopsis: "",
    summary:
      "check the installation: public address, settings of platform apps, redirect addresses, clocks, databases, bus, object store and connections to platforms; exit code 1 if a check fails",
    run: checkInstallation,
  },
  {
    words: "doctor account",
    synopsis: "ID [--live [--public] [--media ID] [--yes]]",
    summary:
      "check an account: connection, permissions, token, quotas and what the platform allows now; --live also publishes one post, the least visible that the platform has, reads it back and deletes it; --public allows a post that readers see until then; --media names the picture or video that the platform needs; --yes asks no question; exit code 1 if a check fails",
    run: checkAccount,
  },
];
