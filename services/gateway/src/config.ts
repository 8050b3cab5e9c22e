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

export function readSettings(read: EnvReader) {
  return {
    ...readProcessConfig(read, "gateway", 8080),
    accountsUrl: read
      .about("Where accounts answers RPCs.")
      .url("ACCOUNTS_URL", "http://127.0.0.1:8081"),
    postsUrl: read.about("Where posts answers RPCs.").url("POSTS_URL", "http://127.0.0.1:8082"),
    mediaUrl: read
      .about("Where media answers RPCs.")
      .url("MEDIA_SERVICE_URL", "http://127.0.0.1:8083"),
    publicUrl: read
      .about("Where clients, people's browsers and platforms reach the gateway.")
      .url("PUBLIC_URL", "http://127.0.0.1:8080"),
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
    trustedProxies: read
      .about("Addresses of proxies whose `X-Forwarded-For` is believed.")
      .list("TRUSTED_PROXIES"),
  };
}

export function readConfig() {
  return loadConfig(process.env, readSettings);
}

export type Config = ReturnType<typeof readConfig>;
