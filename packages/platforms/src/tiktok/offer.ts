import type { OfferRules } from "#src/settings/available-reader.ts";
import { readSettings } from "#src/settings/read-settings.ts";
import { SETTINGS } from "./settings.ts";

const FLAGS = ["allowComment", "allowDuet", "allowStitch"];

function toAudiences({ audiences }: Readonly<Record<string, unknown>>): readonly string[] {
  return Array.isArray(audiences) ? audiences.map(String) : [];
}

export const offer: OfferRules = {
  read: (available, settings) => {
    if (available === undefined) return {};
    const { maxVideoSeconds } = available;
    const audiences = toAudiences(available);
    const { unlistedAs } = readSettings(SETTINGS, settings);
    const privacies = audiences.flatMap((audience) => [
      audience === "only_me" ? "private" : audience,
      ...(audience === unlistedAs ? ["unlisted"] : []),
    ]);
    return {
      ...(privacies.length === 0 ? {} : { privacies }),
      ...(typeof maxVideoSeconds === "number" ? { maxVideoSeconds } : {}),
    };
  },
  findUnoffered: (patch, available) => {
    if (available === null) return [];
    const audiences = toAudiences(available);
    const { unlistedAs } = patch;
    const isUnoffered = typeof unlistedAs === "string" && !audiences.includes(unlistedAs);
    const allowed = audiences.filter((audience) => audience !== "public");
    return [
      ...(isUnoffered ? [{ code: "not_allowed", path: "/unlistedAs", allowed } as const] : []),
      ...FLAGS.filter((name) => patch[name] === true && available[name] === false).map(
        (name) => ({ code: "not_allowed", path: `/${name}`, allowed: ["false"] }) as const,
      ),
    ];
  },
};
