import type { EnvReader } from "#src/config.ts";

/** Variable and port of each service that others call. */
const PEERS = {
  accounts: { name: "ACCOUNTS_URL", port: 8081 },
  posts: { name: "POSTS_URL", port: 8082 },
  media: { name: "MEDIA_SERVICE_URL", port: 8083 },
  delivery: { name: "DELIVERY_URL", port: 8084 },
} as const;

/** Where a service answers its peers. */
export function readPeerUrl(read: EnvReader, peer: keyof typeof PEERS): string {
  const { name, port } = PEERS[peer];
  return read.about(`Where ${peer} answers RPCs.`).url(name, `http://127.0.0.1:${port}`);
}

/** Where everybody else reaches the gateway. */
export function readPublicUrl(read: EnvReader): string {
  return read
    .about("Where clients, people's browsers and platforms reach the gateway.")
    .url("PUBLIC_URL", "http://127.0.0.1:8080");
}
