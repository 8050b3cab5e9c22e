import type { Language } from "../settings/settings.ts";

/** Places that readers of Korean see often; others keep the name of the zone. */
const KOREAN: Readonly<Record<string, string>> = {
  "Asia/Seoul": "서울",
  "Asia/Tokyo": "도쿄",
  "Asia/Shanghai": "상하이",
  "Asia/Hong_Kong": "홍콩",
  "Asia/Taipei": "타이베이",
  "Asia/Singapore": "싱가포르",
  "Asia/Bangkok": "방콕",
  "Asia/Ho_Chi_Minh": "호찌민",
  "Asia/Jakarta": "자카르타",
  "Asia/Manila": "마닐라",
  "Asia/Kolkata": "콜카타",
  "Asia/Dubai": "두바이",
  "Australia/Sydney": "시드니",
  "Pacific/Auckland": "오클랜드",
  "Europe/Berlin": "베를린",
  "Europe/London": "런던",
  "Europe/Paris": "파리",
  "Europe/Madrid": "마드리드",
  "Europe/Rome": "로마",
  "Europe/Amsterdam": "암스테르담",
  "Europe/Vienna": "빈",
  "Europe/Zurich": "취리히",
  "Europe/Moscow": "모스크바",
  "Europe/Istanbul": "이스탄불",
  "America/New_York": "뉴욕",
  "America/Chicago": "시카고",
  "America/Denver": "덴버",
  "America/Los_Angeles": "로스앤젤레스",
  "America/Toronto": "토론토",
  "America/Vancouver": "밴쿠버",
  "America/Mexico_City": "멕시코시티",
  "America/Sao_Paulo": "상파울루",
  "Pacific/Honolulu": "호놀룰루",
};

/**
 * The place that stands beside every time. Abbreviations cannot be relied on: `Intl` gives "GMT+9"
 * for Seoul in English, and "CET" for Berlin in British English only.
 */
export function placeOf(zone: string, language: Language): string {
  if (zone === "UTC" || zone.startsWith("Etc/")) return zone.replace("Etc/", "");
  const known = language === "ko" ? KOREAN[zone] : undefined;
  return known ?? zone.slice(zone.lastIndexOf("/") + 1).replaceAll("_", " ");
}

/** "UTC+9", "UTC+5:30", "UTC" for an offset as Temporal writes it. */
export function offsetOf(at: Temporal.ZonedDateTime): string {
  const [, sign = "+", hours = "0", minutes = "00"] = /^([+-])(\d+):(\d+)/.exec(at.offset) ?? [];
  if (Number(hours) === 0 && minutes === "00") return "UTC";
  const rest = minutes === "00" ? "" : `:${minutes}`;
  return `UTC${sign === "-" ? "−" : "+"}${Number(hours)}${rest}`;
}
