/**
 * The lower third that shows a question. Variables are escaped when they are filled in. Its size follows the width of the frame that overlays
 * are shown in, so that it looks the same on a phone and on a television, and its direction that of the question.
 */
export const QUESTION_HTML = `<style>
  .tifo-question { position: relative; box-sizing: border-box; display: flex; gap: .8em; align-items: flex-start; width: min(28em, 100vw - 32px); margin: 0; padding: .9em 1.1em .9em 1.2em; overflow: hidden;
    color: #fff; font: 500 clamp(15px, 2.1vw, 46px)/1.35 system-ui, sans-serif; text-align: start; background: linear-gradient(100deg, #10162b 0%, #1c2550 100%); border-radius: .7em;
    box-shadow: 0 .2em .5em rgb(0 0 0 / 35%); animation: tifo-question-in .45s cubic-bezier(.2, .8, .2, 1) both; }
  .tifo-question::before { content: ""; position: absolute; inset-block: 0; inset-inline-start: 0; width: .3em; background: #6d8bff; }
  .tifo-question-mark { flex: none; display: grid; place-items: center; width: 2.2em; height: 2.2em; font-weight: 700; color: #10162b; background: #b9c6ff; border-radius: 50%; }
  .tifo-question-body { flex: 1; min-width: 0; }
  .tifo-question-label { display: flex; gap: .5em; align-items: baseline; margin: 0 0 .2em; font-size: max(.72em, 12px); color: #b9c6ff; }
  .tifo-question-label b { overflow: hidden; color: #fff; text-overflow: ellipsis; white-space: nowrap; }
  .tifo-question-label span { flex: none; }
  .tifo-question-label i { flex: 1; }
  .tifo-question-text { display: -webkit-box; margin: 0; overflow: hidden; -webkit-box-orient: vertical; -webkit-line-clamp: 4; overflow-wrap: anywhere; text-wrap: pretty; }
  @keyframes tifo-question-in { from { opacity: 0; transform: translateY(1.3em); } }
  @media (prefers-reduced-motion: reduce) { .tifo-question { animation: none; } }
</style>
<section class="tifo-question" dir="auto" aria-label="Question from the audience">
  <div class="tifo-question-mark" dir="auto" aria-hidden="true">{{initial}}</div>
  <div class="tifo-question-body">
    <p class="tifo-question-label"><b dir="auto">{{name}}</b> <span dir="auto">asks</span> <i></i> <span dir="auto">{{upvotes}}</span></p>
    <p class="tifo-question-text">{{text}}</p>
  </div>
</section>`;
