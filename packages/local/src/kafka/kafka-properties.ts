/**
 * The ports and the log folder of one local Kafka broker. All its other properties are the same for every local broker.
 */
export interface BrokerPlace {
  readonly port: number;
  readonly controllerPort: number;
  readonly logDir: string;
}

/**
 * `server.properties` of a single KRaft node on the loopback address.
 *
 * The two delays for consumer groups are 0: with the broker's defaults, a consumer would wait 3 s to join a group, and every
 * offset commit would wait 5 to 10 ms. Topics are not created automatically, so that a misspelt topic is an error as in
 * production.
 */
export function brokerProperties(
  { port, controllerPort, logDir }: BrokerPlace,
  others: Readonly<Record<string, string>> = {},
): string {
  const properties = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.quorum.voters": `1@127.0.0.1:${controllerPort}`,
    "controller.listener.names": "CONTROLLER",
    listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    "advertised.listeners": `PLAINTEXT://127.0.0.1:${port}`,
    "log.dirs": logDir,
    "auto.create.topics.enable": "false",
    "num.partitions": "12",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "4",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
    "group.coordinator.append.linger.ms": "0",
    "log.retention.hours": "336",
    "log.segment.bytes": "67108864",
    "log.cleaner.dedupe.buffer.size": "4194304",
    // A Kafka broker that starts after a kill waits until its own old registration expires, which takes 9 s by default.
    "broker.session.timeout.ms": "2000",
    "broker.heartbeat.interval.ms": "400",
    "num.network.threads": "2",
    "num.io.threads": "2",
    ...others,
  };
  return Object.entries(properties)
    .map(([name, value]) => `${name}=${value}\n`)
    .join("");
}
