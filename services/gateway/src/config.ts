import { isIP } from "node:net";
import { fileURLToPath } from "node:url";
import { loadConfig, type EnvReader } from "@postrider/shared/config";
import { readPeerUrl, readPublicUrl } from "@postrider/shared/config/addresses";
import { readCells } from "@postrider/shared/config/cells";
import { readMediaKeys, readMediaUrlMs } from "@postrider/shared/config/media-urls";
import { readProcessConfig } from "@postrider/shared/process/service";

/**
 * Reads a setting that lists web origins. Each must be written exactly as browsers send it, because
 * the gateway compares origins as text.
 */
function readOrigins(read: EnvReader, name: string): readonly string[] {
  const origins = read.list(name);
  for (const origin of origins)
    if (URL.parse(origin)?.origin !== origin)
      read.fail(name, `has an entry that is not an origin: ${origin}`);

  return origins;
}

const NAMED_NETWORKS = new Set(["loopback", "linklocal", "uniquelocal"]);

function isNetwork(text: string): boolean {
  const [address = "", bits, ...rest] = text.split("/");
  const longest = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0;
  if (longest === 0 || rest.length > 0) return false;
  return bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= longest);
}

/** The whole internet (`0.0.0.0/0`) is refused. */
function readProxies(read: EnvReader, name: string): readonly string[] {
  const proxies = read.list(name);
  for (const proxy of proxies)
    if (!NAMED_NETWORKS.has(proxy) && !isNetwork(proxy))
      read.fail(name, `has an entry that is neither an address nor a network: ${proxy}`);

  return proxies;
}

/** Limits on how slowly a client may send a request. Tests of slow clients use shorter times. */
const PATIENCE = {
  headersMs: 15_000,
  /** Time for a whole request; then the connection is closed. Uploads may take longer. */
  requestMs: 30_000,
};

/** In general, and for comments, automations and metrics. */
function readDeliveryUrls(read: EnvReader) {
  const deliveryUrl = readPeerUrl(read, "delivery");
  const engagementUrl = read
    .about(
      "Address of the delivery processes for comments, automations and metrics. Set it only if you run separate processes with `ROLE=engagement`.",
      { level: "advanced", default: "the value of `DELIVERY_URL`", isPeer: true },
    )
    .url("ENGAGEMENT_URL", deliveryUrl);
  return { deliveryUrl, engagementUrl };
}

/** Where the build lies in a checkout and in an image. */
const DASHBOARD_FOLDER = fileURLToPath(
  new URL("../../../packages/dashboard/dist", import.meta.url),
);

function readDashboard(read: EnvReader) {
  const isOn = read
    .about(
      "Whether the gateway serves the dashboard at `/app`. Off, its sessions do not work either.",
    )
    .oneOf("DASHBOARD", ["on", "off"], "on");
  return {
    dashboardFolder: isOn === "on" ? DASHBOARD_FOLDER : undefined,
    dashboardUploadOrigins: readOrigins(
      read.about(
        "Origins of the object store to which the dashboard may upload media, as in `S3_PUBLIC_ENDPOINT`. The store must allow the origin of `PUBLIC_URL` (CORS). By default the dashboard uploads through the gateway.",
        { level: "advanced" },
      ),
      "DASHBOARD_UPLOAD_ORIGINS",
    ),
  };
}

export function readSettings(read: EnvReader) {
  return {
    ...readProcessConfig(read, "gateway", 8080),
    accountsUrl: readPeerUrl(read, "accounts"),
    postsUrl: readPeerUrl(read, "posts"),
    mediaUrl: readPeerUrl(read, "media"),
    ...readDeliveryUrls(read),
    publicUrl: readPublicUrl(read),
    cells: readCells(read),
    mediaKeys: readMediaKeys(read),
    mediaUrlMs: readMediaUrlMs(read),
    uploadOrigins: readOrigins(
      read.about(
        "Web origins whose pages may upload media from a browser, for example `https://app.example.com`.",
      ),
      "UPLOAD_ORIGINS",
    ),
    defaultLocale: read
      .about("Language of the API's error messages when a request does not ask for a language.")
      .oneOf("DEFAULT_LOCALE", ["en", "ko"], "en"),
    dashboard: readDashboard(read),
    trustedProxies: readProxies(
      read.about(
        "Proxies whose `X-Forwarded-For` header the gateway trusts: addresses, networks such as `10.0.0.0/8`, or `loopback`, `linklocal`, `uniquelocal`.",
      ),
      "TRUSTED_PROXIES",
    ),
    patience: PATIENCE,
  };
}

export function readConfig() {
  return loadConfig(process.env, readSettings);
}

export type Config = ReturnType<typeof readConfig>;
