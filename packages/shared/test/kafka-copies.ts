import { create, toJsonString } from "@bufbuild/protobuf";
import { AccountConnectedSchema } from "@postrider/contracts/accounts/v1/accounts_events_pb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Bus, BusRecord } from "#src/bus.ts";
import { toRecord } from "#src/bus/cloud-events.ts";
import { openKafka, withAdmin } from "#src/bus/kafka-client.ts";
import { createKafkaBus, ensureTopics } from "#src/bus/kafka.ts";
import { newId } from "#src/ids.ts";
import { appendEvents, outboxEvent } from "#src/outbox.ts";
import { startRelay } from "#src/outbox/relay.ts";
import type { TestDatabase } from "#src/testing/database.ts";
import { eventually } from "#src/testing/poll.ts";
import type { TestKafka } from "./test-kafka.ts";
import { createDatabase, logger } from "./test-service.ts";

const GROUP = "sample";

/** `getBroker` is called when the tests run. */
export function describeCopies(getBroker: () => TestKafka): void {
  describe("copies of a deployment on the Kafka bus", () => {
    let database: TestDatabase;
    beforeAll(async () => {
      database = await createDatabase(12);
    });
    afterAll(() => database[Symbol.asyncDispose]());

    const client = () => ({ brokers: getBroker().brokers, clientId: "test", logger });

    async function makeTopic(): Promise<string> {
      const topic = `copy-${newId()}`;
      await ensureTopics(client(), [topic], 2);
      return topic;
    }

    /** Opens the bus of a deployment. `hold.isHeld` says whether its data is a copy. */
    function openBus(deploymentId: string, hold = { isHeld: false }): Bus {
      return createKafkaBus({
        ...client(),
        sql: database.sql,
        deploymentId,
        guard: { isHeld: () => Promise.resolve(hold.isHeld) },
        onFatal: (error) => {
          throw error;
        },
      });
    }

    function makeRecords(count: number): readonly BusRecord[] {
      return Array.from({ length: count }, () => {
        const accountId = newId();
        const event = {
          eventId: newId(),
          type: AccountConnectedSchema.typeName,
          key: accountId,
          payload: toJsonString(
            AccountConnectedSchema,
            create(AccountConnectedSchema, { accountId }),
          ),
          headers: {},
        };
        return toRecord(event, "/postrider/sample", new Date());
      });
    }

    const keysOf = (records: readonly BusRecord[]) => records.map(({ key }) => key).toSorted();

    /** Consumes a topic until disposed of, and collects the keys of the records. */
    async function collect(bus: Bus, topic: string) {
      const keys: string[] = [];
      const subscription = await bus.subscribe({
        group: GROUP,
        topic,
        handle: (_tx, records) => {
          keys.push(...records.map(({ key }) => key));
          return Promise.resolve();
        },
      });
      return { keys, subscription };
    }

    async function publish(bus: Bus, topic: string, records: readonly BusRecord[]): Promise<void> {
      await database.sql.begin((tx) => bus.publish(tx, topic, records));
    }

    async function listGroups(topic: string): Promise<readonly string[]> {
      return await withAdmin(openKafka(client()), async (admin) => {
        const { groups } = await admin.listGroups();
        return groups.map(({ groupId }) => groupId).filter((id) => id.includes(topic));
      });
    }

    test("two deployments on the same Kafka brokers each receive all of their own records and none of the other's", async () => {
      const topic = await makeTopic();
      await using original = openBus("original");
      await using other = openBus("other");
      const [first, second] = [await collect(original, topic), await collect(other, topic)];
      const [ofFirst, ofSecond] = [makeRecords(40), makeRecords(40)];
      await publish(original, topic, ofFirst);
      await publish(other, topic, ofSecond);
      await publish(original, topic, ofFirst);
      await eventually(() => {
        expect(first.keys.toSorted()).toEqual(keysOf([...ofFirst, ...ofFirst]));
        expect(second.keys.toSorted()).toEqual(keysOf(ofSecond));
      });
    });

    test("a held deployment neither joins Kafka groups nor publishes its outbox, and does both as soon as its data is adopted", async () => {
      const topic = await makeTopic();
      const { sql } = database;
      const hold = { isHeld: true };
      await using original = openBus("original");
      await using copy = openBus("copy", hold);
      const seen = await collect(original, topic);
      const held = await collect(copy, topic);
      await sql.begin((tx) =>
        appendEvents(tx, [
          outboxEvent(AccountConnectedSchema, { accountId: "of the copy" }, "copied"),
        ]),
      );
      let asked = 0;
      const counting: Bus = {
        ...copy,
        isHeld: async () => {
          asked += 1;
          return await copy.isHeld();
        },
      };
      await using _relay = startRelay({
        sql,
        bus: counting,
        service: "sample",
        topicOf: () => topic,
        logger,
        pollMs: 5,
      });
      const records = makeRecords(10);
      await publish(original, topic, records);
      await eventually(() => {
        expect(asked).toBeGreaterThan(1);
        expect(seen.keys.toSorted()).toEqual(keysOf(records));
      });
      expect(held.keys).toEqual([]);
      expect(await listGroups(topic)).toEqual([`${GROUP}.${topic}.original`]);

      hold.isHeld = false;
      await eventually(() => {
        expect(held.keys).toEqual(["copied"]);
      });
      expect(seen.keys).not.toContain("copied");

      hold.isHeld = true;
      await eventually(async () => {
        const groupId = `${GROUP}.${topic}.copy`;
        const { groups } = await withAdmin(openKafka(client()), (admin) =>
          admin.describeGroups([groupId]),
        );
        expect(groups[0]?.members).toEqual([]);
      });
    });
  });
}
