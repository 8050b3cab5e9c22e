import { startEn } from "./words-en.ts";
import { startKo } from "./words-ko.ts";

export const startWords = { en: startEn, ko: startKo };
