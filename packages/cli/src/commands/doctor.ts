import type { Command } from "#src/command.ts";
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
];
