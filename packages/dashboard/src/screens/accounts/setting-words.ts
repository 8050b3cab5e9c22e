import { settingEn } from "./setting-words-en.ts";
import { settingKo } from "./setting-words-ko.ts";

export const settingWords = { en: settingEn, ko: settingKo };
