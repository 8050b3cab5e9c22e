import { detailEn } from "./words-en.ts";
import { detailKo } from "./words-ko.ts";

export const detailWords = { en: detailEn, ko: detailKo };
