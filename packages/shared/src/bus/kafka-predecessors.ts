import type { Kafka } from "kafkajs";
import { withAdmin } from "#src/bus/kafka-client.ts";
import type { Logger } from "#src/telemetry/logger.ts";

export interface PredecessorOptions {
  readonly kafka: Kafka;
  readonly groupId: string;
  /**
   * Name of this process, which no other running process has, and which the process that replaces it after a crash has
   * again. Kafka shows it as the client id of the members of a group.
   */
  readonly instance: string;
  readonly logger: Logger;
}

/**
 * Removes the member that an earlier process of the same name left in a Kafka group when it was killed. Otherwise the whole
 * group would wait, as soon as this process joins, until the session of the killed process ends, and no process would read
 * events in this time.
 *
 * It is harmless if the earlier process still runs: it is told that it is no longer a member, and joins again. If the
 * removal fails, the group waits for the end of the session.
 */
export async function removePredecessors(options: PredecessorOptions): Promise<void> {
  const { kafka, groupId, instance, logger } = options;
  try {
    await withAdmin(kafka, async (admin) => {
      const { groups } = await admin.describeGroups([groupId]);
      const members = groups.flatMap((group) => group.members);
      for (const { clientId, memberId } of members)
        if (clientId === instance) await admin.leaveGroup({ groupId, memberId });
    });
  } catch (err) {
    logger.debug(
      { err, groupId },
      "the member of an earlier process could not be removed from its Kafka group; the group waits until its session ends",
    );
  }
}
