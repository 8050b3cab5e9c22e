import type { EnvReader } from "#src/config.ts";

/** For each service that other services call: the setting with its address, and the port of the default address. */
const PEERS = {
  accounts: { name: "ACCOUNTS_URL", port: 8081 },
  posts: { name: "POSTS_URL", port: 8082 },
  media: { name: "MEDIA_SERVICE_URL", port: 8083 },
  delivery: { name: "DELIVERY_URL", port: 8084 },
} as const;

/** Reads the setting with the address of another service. */
export function readPeerUrl(read: EnvReader, peer: keyof typeof PEERS): string {
  const { name, port } = PEERS[peer];
  return read
    .about(`Address at which other services call the ${peer} service.`)
    .url(name, `http://127.0.0.1:${port}`);
}

/** Reads the setting with the address at which clients, browsers and platforms reach the gateway. */
export function readPublicUrl(read: EnvReader): string {
  return read
    .about("Address at which clients, browsers and platforms reach the gateway.", {
      level: "needed",
    })
    .url("PUBLIC_URL", "http://127.0.0.1:8080");
}
