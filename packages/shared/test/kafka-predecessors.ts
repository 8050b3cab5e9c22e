import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openKafka, withAdmin } from "#src/bus/kafka-client.ts";
import { removePredecessors } from "#src/bus/kafka-member.ts";
import { createKafkaBus, ensureTopics } from "#src/bus/kafka.ts";
import { newId } from "#src/ids.ts";
import type { TestDatabase } from "#src/testing/database.ts";
import { eventually } from "#src/testing/poll.ts";
import type { TestKafka } from "./test-kafka.ts";
import { createDatabase, logger, OWN_DATA } from "./test-service.ts";

const INSTANCE = "postrider-sample@host:1";

/** `getBroker` is called when the tests run. */
export function describePredecessors(getBroker: () => TestKafka): void {
  describe("killed processes on the Kafka bus", () => {
    let database: TestDatabase;

    beforeAll(async () => {
      database = await createDatabase();
    });
    afterAll(() => database[Symbol.asyncDispose]());

    const client = () => ({ brokers: getBroker().brokers, clientId: "test", logger });

    /**
     * Makes a topic whose group has one member, of a process with this name that was killed. Its
     * session lasts ten minutes.
     */
    async function leaveMember(instance: string): Promise<string> {
      const topic = `t-${newId()}`;
      await ensureTopics(client(), [topic], 2);
      const program = join(import.meta.dirname, "kafka-member-process.ts");
      const child = spawn(process.execPath, [
        program,
        getBroker().brokers[0] ?? "",
        instance,
        `g.${topic}.test`,
        topic,
      ]);
      await once(child.stdout, "data");
      child.kill("SIGKILL");
      await once(child, "exit");
      return topic;
    }

    async function listMembers(topic: string): Promise<readonly string[]> {
      const { groups } = await withAdmin(openKafka(client()), (admin) =>
        admin.describeGroups([`g.${topic}.test`]),
      );
      return groups.flatMap(({ members }) => members.map(({ clientId }) => clientId));
    }

    test("a process that replaces a killed one reads events at once, although the session of the killed one has not ended", async () => {
      const topic = await leaveMember(INSTANCE);
      expect(await listMembers(topic)).toEqual([INSTANCE]);
      const seen: string[] = [];
      await using bus = createKafkaBus({
        ...client(),
        ...OWN_DATA,
        sql: database.sql,
        instance: INSTANCE,
        onFatal: (error) => {
          throw error;
        },
      });
      await bus.subscribe({
        group: "g",
        topic,
        handle: async (_tx, records) => void seen.push(...records.map(({ key }) => key)),
      });
      await database.sql.begin((tx) =>
        bus.publish(tx, topic, [{ key: "a", headers: {}, value: "x" }]),
      );
      await eventually(() => expect(seen).toEqual(["a"]));
      expect(await listMembers(topic)).toEqual([INSTANCE]);
    });

    test("a process leaves the members of other processes in its Kafka group", async () => {
      const other = "postrider-sample@other:1";
      const topic = await leaveMember(other);
      const kafka = openKafka(client());
      await removePredecessors({ kafka, groupId: `g.${topic}.test`, instance: INSTANCE, logger });
      expect(await listMembers(topic)).toEqual([other]);
      await removePredecessors({ kafka, groupId: `g.${topic}.test`, instance: other, logger });
      expect(await listMembers(topic)).toEqual([]);
    });
  });
}
