import type { EnvReader } from "#src/config.ts";

/** The setting with the address of each service, and its default port. */
const PEERS = {
  accounts: { name: "ACCOUNTS_URL", port: 8081 },
  posts: { name: "POSTS_URL", port: 8082 },
  media: { name: "MEDIA_SERVICE_URL", port: 8083 },
  delivery: { name: "DELIVERY_URL", port: 8084 },
} as const;

export function readPeerUrl(read: EnvReader, peer: keyof typeof PEERS): string {
  const { name, port } = PEERS[peer];
  return read
    .about(`Address at which other services call the ${peer} service.`, { isPeer: true })
    .url(name, `http://127.0.0.1:${port}`);
}

export function readPublicUrl(read: EnvReader): string {
  return read
    .about("Address at which clients, browsers and platforms reach the gateway.", {
      level: "needed",
    })
    .url("PUBLIC_URL", "http://127.0.0.1:8080");
}
