import { metricsEn } from "./words-en.ts";
import { metricsKo } from "./words-ko.ts";

export const metricsWords = { en: metricsEn, ko: metricsKo };
