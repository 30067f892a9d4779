import type { KitTemplateName } from "#sdk/overlay/kit/piece.ts";
import type { Value } from "./values.ts";

const HOME_NAME = "مدينة الميناء";
const AWAY_NAME = "الرصيف القديم";
const SCORER = "هدى الشامي";
const SUBSTITUTE = "ليلى منصور";
const COACH = "سلمى القاسم";

/** The samples' texts in Arabic, which is written from right to left. Numbers and colours stay those of the sample. */
export const ARABIC: Readonly<Record<KitTemplateName, Readonly<Record<string, Value>>>> = {
  scorebug: { homeName: HOME_NAME, awayName: AWAY_NAME, period: "الشوط الثاني" },
  goal: {
    ...{ headline: "هدف", playerName: SCORER, detail: "صناعة: نور حداد" },
    ...{ teamName: HOME_NAME, homeName: HOME_NAME, awayName: AWAY_NAME },
  },
  card: { playerName: "إيناس عبد الله", detail: "تدخل متأخر", teamName: HOME_NAME },
  substitution: { inName: SUBSTITUTE, outName: SCORER, teamName: HOME_NAME },
  "line-up": {
    ...{ teamName: HOME_NAME, coach: COACH },
    players:
      "1 جنى خليل\n2 تالا بدر\n4 إيناس عبد الله\n5 سارة وهبي\n3 ياسمين طه\n6 نور حداد\n8 ريم عيسى\n10 أمل ديب\n7 كنزي مراد\n9 هدى الشامي\n11 زينة عدنان",
  },
  "lower-third": { name: COACH, role: `مدربة ${HOME_NAME}`, label: "مباشر" },
  poll: { headline: "رأيك" },
  countdown: { headline: "انطلاق المباراة", detail: `${HOME_NAME} ضد ${AWAY_NAME}`, doneText: "الآن" },
  question: { text: "هل ستكون القائدة جاهزة للنهائي؟", name: "ريم", headline: "سؤال" },
  "chat-message": { text: "يا له من تصدٍّ! لم يكن أحد يتوقع أن تصل إليها.", name: "ليث", badge: "عضو" },
  sponsor: { name: "متجر الرصيف", label: "برعاية", detail: "لكل الأجواء" },
  "breaking-news": { headline: "نقل النهائي إلى ملعب الميناء", detail: "التذاكر صالحة، وتفتح الأبواب الساعة 17:00", label: "عاجل" },
  "final-result": {
    ...{ homeName: HOME_NAME, awayName: AWAY_NAME, headline: "نهاية المباراة", competition: "نهائي كأس الميناء" },
    ...{ homeDetail: "الشامي 12′، 67′", awayDetail: "ساتو 48′" },
  },
};

/** What the sample poll asks. */
export const ARABIC_POLL = { question: "من أفضل لاعبة في المباراة؟", kind: "استطلاع", answers: [SCORER, SUBSTITUTE, "نور حداد"] };
