import type { EnvReader } from "#src/config.ts";

/** Setting and default port of each service that is called by others. */
const PEERS = {
  accounts: { name: "ACCOUNTS_URL", port: 8081 },
  posts: { name: "POSTS_URL", port: 8082 },
  media: { name: "MEDIA_SERVICE_URL", port: 8083 },
  delivery: { name: "DELIVERY_URL", port: 8084 },
} as const;

/** Reads the base URL of a service's RPCs. */
export function readPeerUrl(read: EnvReader, peer: keyof typeof PEERS): string {
  const { name, port } = PEERS[peer];
  return read.about(`Base URL of the RPCs of ${peer}.`).url(name, `http://127.0.0.1:${port}`);
}

/** Reads the URL at which everyone outside reaches the gateway. */
export function readPublicUrl(read: EnvReader): string {
  return read
    .about("URL at which clients, browsers and platforms reach the gateway.")
    .url("PUBLIC_URL", "http://127.0.0.1:8080");
}
