import { loadConfig, type EnvReader } from "@postrider/shared/config";
import { readProcessConfig } from "@postrider/shared/service";

/** Origins as browsers write them, because they are compared as texts. */
function readOrigins(read: EnvReader, name: string): readonly string[] {
  const origins = read.list(name);
  for (const origin of origins) {
    if (URL.parse(origin)?.origin !== origin) read.fail(name, `has what is no origin: ${origin}`);
  }
  return origins;
}

export function readConfig() {
  return loadConfig(process.env, (read) => ({
    ...readProcessConfig(read, "gateway", 8080),
    accountsUrl: read.url("ACCOUNTS_URL", "http://127.0.0.1:8081"),
    postsUrl: read.url("POSTS_URL", "http://127.0.0.1:8082"),
    mediaUrl: read.url("MEDIA_SERVICE_URL", "http://127.0.0.1:8083"),
    /** Where clients reach the gateway; stands in the API description. */
    publicUrl: read.url("PUBLIC_URL", "http://127.0.0.1:8080"),
    /** Signs the addresses of media; delivery has the same, because platforms fetch from here. */
    mediaKey: read.string("MEDIA_KEY", { minLength: 32 }),
    mediaUrlMs: read.seconds("MEDIA_URL_SECONDS", 86_400, 1),
    /** Web origins whose pages may upload, for example `https://app.example.com`; empty = none. */
    uploadOrigins: readOrigins(read, "UPLOAD_ORIGINS"),
    /** Language of messages for clients that prefer none. */
    defaultLocale: read.oneOf("DEFAULT_LOCALE", ["en", "ko"], "en"),
    /** Addresses of proxies whose X-Forwarded-For is believed; empty = none. */
    trustedProxies: read.list("TRUSTED_PROXIES"),
  }));
}

export type Config = ReturnType<typeof readConfig>;
