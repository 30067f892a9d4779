// The demo's derby as its data provider reported it. `npm run demo:match` replays it.

export const MATCH_KINDS = ["whistle", "shot", "save", "corner", "foul", "offside", "card", "substitution", "goal"] as const;

export interface Moment {
  minute: number;
  kind: (typeof MATCH_KINDS)[number];
  side?: "home" | "away";
  /** The player who shot, saved, was booked or came on. */
  player?: string;
  /** The player who went off. */
  off?: string;
  /** The match's new state, if a whistle changes it. */
  status?: "first half" | "half time" | "second half" | "over";
}

/** In chronological order. */
export const RECORDED_MATCH: Moment[] = [
  { minute: 0, kind: "whistle", status: "first half" },
  { minute: 2, kind: "corner", side: "away" },
  { minute: 4, kind: "shot", side: "home", player: "Ada Moreno" },
  { minute: 6, kind: "save", side: "away", player: "Gus Anker" },
  { minute: 9, kind: "foul", side: "away", player: "Bo Kessler" },
  { minute: 11, kind: "shot", side: "home", player: "Yara Lindqvist" },
  { minute: 14, kind: "corner", side: "home" },
  { minute: 17, kind: "goal", side: "home", player: "Ada Moreno" },
  { minute: 19, kind: "shot", side: "away", player: "Iris Vane" },
  { minute: 20, kind: "save", side: "home", player: "Ruth Okafor" },
  { minute: 23, kind: "card", side: "away", player: "Bo Kessler" },
  { minute: 26, kind: "offside", side: "home", player: "Ada Moreno" },
  { minute: 29, kind: "corner", side: "away" },
  { minute: 31, kind: "shot", side: "away", player: "Iris Vane" },
  { minute: 34, kind: "foul", side: "home", player: "Noor Haddad" },
  { minute: 37, kind: "shot", side: "home", player: "Noor Haddad" },
  { minute: 40, kind: "substitution", side: "away", player: "Pia Solberg", off: "Mae Lund" },
  { minute: 42, kind: "offside", side: "away", player: "Iris Vane" },
  { minute: 45, kind: "whistle", status: "half time" },
  { minute: 46, kind: "whistle", status: "second half" },
  { minute: 48, kind: "corner", side: "away" },
  { minute: 50, kind: "shot", side: "away", player: "Pia Solberg" },
  { minute: 54, kind: "foul", side: "away", player: "Gus Anker" },
  { minute: 58, kind: "goal", side: "away", player: "Iris Vane" },
  { minute: 60, kind: "substitution", side: "home", player: "Emre Tan", off: "Cleo Martin" },
  { minute: 62, kind: "shot", side: "home", player: "Emre Tan" },
  { minute: 64, kind: "save", side: "away", player: "Gus Anker" },
  { minute: 67, kind: "foul", side: "home", player: "Yara Lindqvist" },
  { minute: 70, kind: "card", side: "home", player: "Yara Lindqvist" },
  { minute: 72, kind: "corner", side: "home" },
  { minute: 75, kind: "shot", side: "away", player: "Iris Vane" },
  { minute: 76, kind: "save", side: "home", player: "Ruth Okafor" },
  { minute: 79, kind: "offside", side: "away", player: "Pia Solberg" },
  { minute: 81, kind: "substitution", side: "away", player: "Lou Marsh", off: "Kit Soto" },
  { minute: 83, kind: "goal", side: "home", player: "Emre Tan" },
  { minute: 85, kind: "shot", side: "away", player: "Lou Marsh" },
  { minute: 87, kind: "corner", side: "away" },
  { minute: 88, kind: "save", side: "home", player: "Ruth Okafor" },
  { minute: 89, kind: "foul", side: "away", player: "Pia Solberg" },
  { minute: 90, kind: "whistle", status: "over" },
];
