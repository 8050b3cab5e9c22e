import type { Kafka } from "kafkajs";
import { withAdmin } from "#src/bus/kafka-client.ts";

interface Positions {
  /** The Kafka group whose positions are taken over. */
  readonly from: string;
  /** The Kafka group that continues there, unless it has positions of its own. */
  readonly to: string;
  readonly topic: string;
}

/** The offset that Kafka returns for a partition in which a group has no position. */
const NONE = "-1";

/**
 * Makes a new Kafka group continue where another group is. An installation of an earlier release thus does not process the
 * records of two weeks again when the name of its group changes. Without positions in either group nothing changes, and the
 * new group starts at the beginning of the topic.
 *
 * @throws When the new group has got members meanwhile; the caller then tries again, and finds positions.
 */
export async function inheritPositions(
  kafka: Kafka,
  { from, to, topic }: Positions,
): Promise<void> {
  await withAdmin(kafka, async (admin) => {
    const read = async (groupId: string) => {
      const [found] = await admin.fetchOffsets({ groupId, topics: [topic] });
      return (found?.partitions ?? []).filter(({ offset }) => offset !== NONE);
    };
    if ((await read(to)).length > 0) return;
    const partitions = await read(from);
    if (partitions.length === 0) return;
    await admin.setOffsets({
      groupId: to,
      topic,
      partitions: partitions.map(({ partition, offset }) => ({ partition, offset })),
    });
  });
}
