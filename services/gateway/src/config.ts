import { isIP } from "node:net";
import { loadConfig, type EnvReader } from "@postrider/shared/config";
import { readPeerUrl, readPublicUrl } from "@postrider/shared/config/addresses";
import { readProcessConfig } from "@postrider/shared/process/service";

/** Origins as browsers write them, because they are compared as texts. */
function readOrigins(read: EnvReader, name: string): readonly string[] {
  const origins = read.list(name);
  for (const origin of origins) {
    if (URL.parse(origin)?.origin !== origin) read.fail(name, `has what is no origin: ${origin}`);
  }
  return origins;
}

const NAMED_NETWORKS = new Set(["loopback", "linklocal", "uniquelocal"]);

function isNetwork(text: string): boolean {
  const [address = "", bits, ...rest] = text.split("/");
  const longest = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0;
  if (longest === 0 || rest.length > 0) return false;
  return bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= longest);
}

/** Whose word is taken for where a request comes from. All of the internet at once is nobody's proxy. */
function readProxies(read: EnvReader, name: string): readonly string[] {
  const proxies = read.list(name);
  for (const proxy of proxies) {
    if (!NAMED_NETWORKS.has(proxy) && !isNetwork(proxy))
      read.fail(name, `has what is no address and no network: ${proxy}`);
  }
  return proxies;
}

function readPatience(read: EnvReader) {
  return {
    headersMs: read
      .about("How long the headers of a request may take to arrive.")
      .seconds("HEADERS_TIMEOUT_SECONDS", 15, 0.05),
    requestMs: read
      .about("How long a request may take to arrive, with its body; uploads may take longer.")
      .seconds("RECEIVE_TIMEOUT_SECONDS", 30, 0.05),
    stallMs: read
      .about("An upload of which nothing comes for so long has ended.")
      .seconds("UPLOAD_STALL_SECONDS", 30, 0.05),
    minBytesPerSecond: read
      .about("An upload that is slower than this, on average over that time, has ended too.")
      .integer("UPLOAD_MIN_BYTES_PER_SECOND", { default: 1000, min: 0 }),
  };
}

export function readSettings(read: EnvReader) {
  return {
    ...readProcessConfig(read, "gateway", 8080),
    accountsUrl: readPeerUrl(read, "accounts"),
    postsUrl: readPeerUrl(read, "posts"),
    mediaUrl: readPeerUrl(read, "media"),
    publicUrl: readPublicUrl(read),
    mediaKeys: read
      .secret(
        "Signs the addresses of media; gateway and delivery have the same. The first signs, all are accepted, so that it can be changed while everything runs.",
      )
      .secrets("MEDIA_KEY", 32),
    mediaUrlMs: read
      .about("How long an address of media is good.")
      .seconds("MEDIA_URL_SECONDS", 86_400, 1),
    uploadOrigins: readOrigins(
      read.about("Web origins whose pages may upload, for example `https://app.example.com`."),
      "UPLOAD_ORIGINS",
    ),
    defaultLocale: read
      .about("Language of messages for clients that prefer none.")
      .oneOf("DEFAULT_LOCALE", ["en", "ko"], "en"),
    trustedProxies: readProxies(
      read.about(
        "Proxies whose `X-Forwarded-For` is believed: addresses, networks like `10.0.0.0/8`, or `loopback`, `linklocal`, `uniquelocal`.",
      ),
      "TRUSTED_PROXIES",
    ),
    patience: readPatience(read),
  };
}

export function readConfig() {
  return loadConfig(process.env, readSettings);
}

export type Config = ReturnType<typeof readConfig>;
