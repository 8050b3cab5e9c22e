import type { EnvReader } from "#src/config.ts";

/** The name of the installation that a process belongs to. */
export function readDeploymentId(read: EnvReader): string {
  return read
    .about(
      "Name of this installation of Postrider, which is also stored in the database, in the object store and in the names of Kafka consumer groups. If the database contains another name, Postrider considers its data a copy: it publishes, sends and deletes nothing until an operator runs `postrider recovery adopt`.",
    )
    .string("DEPLOYMENT_ID", { default: "default" });
}
