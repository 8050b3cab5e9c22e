import { join } from "node:path";
import { javaEnvironment, startKafka, type EmbeddedKafka } from "@postrider/local/kafka/kafka";
import { ensureKafkaJars } from "@postrider/local/kafka/kafka-jars";
import { findStablePorts } from "@postrider/local/processes/free-port";

const BROKERS = 3;
/** As deploy/README.md asks for: each record is on two brokers before it counts as written. */
const REPLICATED = {
  "default.replication.factor": "3",
  "min.insync.replicas": "2",
  "offsets.topic.replication.factor": "3",
  "transaction.state.log.replication.factor": "3",
  "transaction.state.log.min.isr": "2",
};

export interface KafkaCluster extends AsyncDisposable {
  readonly brokers: readonly EmbeddedKafka[];
}

/** Brokers that are controllers too, as small clusters have them. */
export async function startKafkaCluster(folder: string): Promise<KafkaCluster> {
  await ensureKafkaJars(javaEnvironment());
  await using started = new AsyncDisposableStack();
  const controllers = await findStablePorts(BROKERS);
  const voters = controllers.map((port, index) => `${index + 1}@127.0.0.1:${port}`).join();
  const starting = controllers.map((controllerPort, index) =>
    startKafka({
      dataDir: join(folder, `broker-${index + 1}`),
      clusterId: "PostriderDrillClusterA",
      properties: ({ port }) => ({
        ...REPLICATED,
        "node.id": String(index + 1),
        "controller.quorum.voters": voters,
        listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
      }),
    }),
  );
  const results = await Promise.allSettled(starting);
  const brokers = results.flatMap((result) =>
    result.status === "fulfilled" ? [started.use(result.value)] : [],
  );
  await Promise.all(starting);
  const running = started.move();
  return { brokers, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
