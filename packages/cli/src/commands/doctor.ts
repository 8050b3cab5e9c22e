import type { Command } from "#src/command.ts";
import { checkAccount } from "#src/doctor/check-account.ts";
import { checkInstallation } from "#src/doctor/check-installation.ts";

/** Commands that check an installation and its accounts. */
export const doctorCommands: readonly Command[] = [
  {
    words: "doctor config",
    synopsis: "",
    summary:
      "check the installation: public address, settings of platform apps, redirect addresses, clocks, databases, bus, object store and connections to platforms; exit code 1 if a check fails",
    options: {},
    run: checkInstallation,
  },
  {
    words: "doctor account",
    synopsis: "ID [--live [--public] [--media ID] [--yes]]",
    summary:
      "check an account: connection, permissions, token, quotas and what the platform allows now; --live also publishes one post, the least visible that the platform has, reads it back and deletes it; --public allows a post that readers see until then; --media names the picture or video that the platform needs; --yes asks no question; exit code 1 if a check fails",
    options: {
      live: { type: "boolean" },
      public: { type: "boolean" },
      media: { type: "string" },
      yes: { type: "boolean" },
    },
    positionals: { min: 1, max: 1 },
    run: checkAccount,
  },
];
