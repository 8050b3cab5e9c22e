import { findText, type Arguments } from "#src/command.ts";
import { SERVICES, type ServiceName } from "#src/config.ts";
import { UsageError } from "#src/failures.ts";

export function chosenServices(args: Arguments): readonly ServiceName[] {
  const name = findText(args, "service");
  if (name === undefined) return SERVICES;
  const found = SERVICES.find((service) => service === name);
  if (found === undefined) throw new UsageError(`--service must be one of ${SERVICES.join(", ")}`);
  return [found];
}
