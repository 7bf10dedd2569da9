import Foundation

/// The code in a message, by the same patterns as the login form for pages.
enum CodeInMessage {
    private static let numbers = pattern([
        // Not a code: an address, a phone number, an amount, a postal code, the number of an order or of an account.
        #"[a-z]+:\/\/[^ \n]+"#,
        #"[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}\/[^ \n]*"#,
        #"\+91[ -]?\(?[0-9](?:[ ()-]{0,2}[0-9]){9}(?![0-9])"#,
        #"\(?0[0-9]{2,4}\)?[ -]{1,2}[0-9]{6,8}(?![0-9])"#,
        #"18[06]0(?:[ -]{0,3}[0-9]){6,7}(?![0-9])"#,
        #"[6-9][0-9]{3} [0-9]{6}(?![0-9])"#,
        #"(?:call|dial|helpline|toll[ -]?free|कॉल|हेल्पलाइन)(?: (?:us|at|on|to|is|no\.?|number|नंबर|करें))*[ :-]{1,3}[0-9]{6}(?![0-9])"#,
        #"sms [\p{L}\p{M}]+ to [0-9]{6}(?![0-9])"#,
        #"[0-9]{6} पर (?:कॉल|sms)"#,
        #"(?:₹|rs(?!\p{L})\.?|inr|रु(?![\p{L}\p{M}])\.?|रुपये)[ :]{0,2}[0-9]+(?:,[0-9]+)*(?:\.[0-9]{1,2}(?![0-9]))?"#,
        #"[0-9]+(?:,[0-9]+)*(?:\.[0-9]{1,2})? ?(?:\/-|(?:rs|inr|rupees?|रुपये|रुपए|रु)(?![\p{L}\p{M}]|\.? ?[0-9]))"#,
        #"(?:pin ?-?code|postal code|zip(?: code)?|पिन ?-?कोड)[ :.-]{0,3}[0-9]{3} ?[0-9]{3}(?![0-9])"#,
        #"(?:order|ord|ref|reference|txn|transaction|booking|ticket|invoice|complaint|account|a\/c|customer|policy|awb|pnr|ऑर्डर)(?: ?(?:id|no\.?|number|नंबर)| ?#)(?: is)?[ :.#-]{0,3}[0-9]{6}(?![0-9])"#,
        // Perhaps the number of an order: then there is no code.
        #"(?:order|ord|ref|reference|txn|transaction|booking|ticket|invoice|complaint|account|a\/c|customer|policy|awb|pnr|ऑर्डर)[ :.#-]{1,3}([0-9]{6})(?![0-9])"#,
        // A group that is said to be the code, before or after it; another group; a run.
        #"(?:otp|code|कोड|ओटीपी)(?: is)?[ :-]{1,3}([0-9]{3}(?: ?- ?| {1,2})[0-9]{3})(?![\p{L}\p{M}0-9_+\/@=]|[ .,:-][0-9])"#,
        #"([0-9]{3}(?: ?- ?| {1,2})[0-9]{3})(?= is )"#,
        #"[0-9]{1,5}[ -][0-9]{3}[ -][0-9]{3}(?![0-9])"#,
        #"([0-9]{3}(?: ?- ?| {1,2})[0-9]{3})(?![\p{L}\p{M}0-9_+\/@=]|[ .,:-][0-9])"#,
        #"([0-9]{6})(?![\p{L}\p{M}0-9_+\/@=]|[.,:-][0-9])"#,
        // Dates, times, versions; digits that belong to a word; whole words, so that none is looked into.
        #"[0-9]+(?:[.,:\/-][0-9]+)+"#,
        #"(?:[+\/_]|\*\*)[0-9]+"#,
        #"[\p{L}\p{M}0-9_]+"#,
    ].joined(separator: "|"))
    private static let lastLine = pattern(#"(?:^|\n)@([^ \n]+) #([0-9]+)(?: @[^ \n]+)?$"#)

    /// The six digits: the code alone, or that of a whole message. A last line `@domain #code` of `domain` or one above it
    /// decides. Otherwise it is the only run of six digits that is no date, time, phone number or amount; without any run,
    /// the only group of three and three. Otherwise nothing, since a wrong code costs one of five tries.
    ///
    /// `domain` is `--webotp-domain` of the project, if it has one.
    static func read(_ message: String, domain: String? = nil) -> String? {
        let text = plain(String(message.prefix(2000))).trimmingCharacters(in: .whitespacesAndNewlines)
        if text.range(of: "^[0-9](?: ?[0-9]){5}$", options: .regularExpression) != nil { return digits(text) }
        if let found = matches(lastLine, text).first, let domain,
           ".\(domain.lowercased())".hasSuffix(".\(found[0].lowercased())") {
            return found[1].count == 6 ? found[1] : nil
        }
        var runs = Set<String>()
        var groups = Set<String>()
        for found in matches(numbers, text) {
            let (id, said, saidFirst, group, run) = (found[0], found[1], found[2], found[3], found[4])
            if !id.isEmpty { return nil }
            for one in [said, saidFirst, run] where !one.isEmpty { runs.insert(digits(one)) }
            if !group.isEmpty { groups.insert(digits(group)) }
        }
        let all = runs.isEmpty ? groups : runs
        return all.count == 1 ? all.first : nil
    }

    /// ASCII digits for those of other scripts, one kind of space, dash and line end, and nothing that is invisible.
    private static func plain(_ text: String) -> String {
        var plain = String.UnicodeScalarView()
        for scalar in text.replacingOccurrences(of: "\r\n", with: "\n").unicodeScalars {
            switch scalar.properties.generalCategory {
            case .format: continue
            case .decimalNumber: plain.append(contentsOf: "\(Int(scalar.properties.numericValue ?? 0))".unicodeScalars)
            case .dashPunctuation: plain.append("-")
            default:
                if scalar == "\u{2212}" { plain.append("-") }
                else if scalar == "\r" || scalar == "\n" { plain.append("\n") }
                else { plain.append(scalar.properties.isWhitespace ? " " : scalar) }
            }
        }
        return String(plain)
    }

    private static func digits(_ text: String) -> String { text.filter { ("0"..."9").contains($0) } }

    private static func pattern(_ source: String) -> NSRegularExpression {
        // The patterns are constants.
        try! NSRegularExpression(pattern: source, options: [.caseInsensitive])
    }

    /// The groups of each match; empty for one that has no part in it.
    private static func matches(_ pattern: NSRegularExpression, _ text: String) -> [[String]] {
        let all = text as NSString
        return pattern.matches(in: text, range: NSRange(location: 0, length: all.length)).map { match in
            (1..<match.numberOfRanges).map { group in
                let range = match.range(at: group)
                return range.location == NSNotFound ? "" : all.substring(with: range)
            }
        }
    }
}
