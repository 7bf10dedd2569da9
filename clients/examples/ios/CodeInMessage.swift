import Foundation

/// The code in a message, by the same patterns as the login form for pages.
enum CodeInMessage {
    private static let numbers = pattern([
        // Not a code: an address, a phone number, an amount, a postal code, a date, a time, the number of an order or of a card.
        #"[a-z]+:\/\/[^ \n]+"#,
        #"[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}\/[^ \n]*"#,
        #"\+91[ -]?\(?[0-9](?:[ ()-]{0,2}[0-9]){9}(?![0-9])"#,
        #"\(?0[0-9]{2,4}\)?[ -]{1,2}[0-9]{6,8}(?![0-9])"#,
        #"18[06]0(?:[ -]{0,3}[0-9]){6,7}(?![0-9])"#,
        #"[6-9][0-9]{3} [0-9]{6}(?![0-9])"#,
        #"(?:call|dial|helpline|toll[ -]?free|(?:customer )?care|support|help ?desk|कॉल|हेल्पलाइन)(?: (?:us|at|on|to|is|no\.?|number|नंबर|करें))*[ :=*(-]{1,3}[0-9]{6}(?![0-9])"#,
        #"sms [\p{L}\p{M}]+ to [0-9]{6}(?![0-9])"#,
        #"[0-9]{6} पर (?:कॉल|sms|संपर्क|फ़ोन|फोन)"#,
        #"(?:[₹\$€£]|rs(?!\p{L})\.?|inr|usd|रु(?![\p{L}\p{M}])\.?|रुपये)[ :]{0,2}[0-9]+(?:,[0-9]+)*(?:\.[0-9]{1,2}(?![0-9]))?"#,
        #"[0-9]+(?:,[0-9]+)*(?:\.[0-9]{1,2})? ?(?:\/-|(?:rs|inr|usd|rupees?|रुपये|रुपए|रु)(?![\p{L}\p{M}]|\.? ?[0-9]))"#,
        #"(?:(?:pin|postal|zip)(?: ?-?code)?|[mt]pin|पिन(?: ?-?कोड)?)(?: (?:is|of|no\.?|number|नंबर))*[ :.=*(-]{0,3}[0-9]{3} ?[0-9]{3}(?![0-9])"#,
        #"(?:amount|amt\.?|total|balance|bal\.?|limit|emi|fee|price|date|dated|dt\.?|dob|time|expiry|validity|राशि|कुल|दिनांक|तारीख|समय)(?: (?:at|on|to|is|was|of|due|paid|payable))*[ :=*(-]{1,3}[0-9]{6}(?![0-9])"#,
        #"(?:on|of|at|by|to|for|till?|until|up ?to|before|after|since|expires|expired|valid|ending|ends|contact|ph\.?|tel\.?|card|pay|paid|due|worth|debited|credited|संपर्क|कार्ड)(?: (?:us|at|on|to|by|for|with|in|of|no\.?|number|नंबर|करें))*[ :=*(-]{1,3}[0-9]{6}(?![0-9])"#,
        #"(?:id|no\.?|number|phone|mobile|whatsapp|नंबर)[ #*(]{1,3}[0-9]{6}(?![0-9])"#,
        #"[0-9]{6} ?(?:hrs?|hours?|ist|gmt|utc|[ap]\.?m\.?|बजे|तक|points?|units?|(?:(?:was|were|is|has been|have been|will be) )?(?:paid|debited|credited|received|refunded|deducted|charged|spent|transferred|withdrawn))(?![\p{L}\p{M}])"#,
        #"[0-9]{6} is (?:your|the|our) (?:(?:order|ord|ref|reference|txn|transaction|booking|ticket|invoice|bill|statement|receipt|challan|loan|consumer|complaint|account|a\/c|customer|policy|awb|pnr|ऑर्डर|card|employee|user|client|member|membership|registration|application|folio|tracking|shipment|request|case) ?(?:id|no\.?|number)|(?:pin|postal|zip) ?-?code|(?:atm |card |upi |m)?pin|amount|balance|total|(?:customer )?care|helpline|toll[ -]?free)(?![\p{L}\p{M}]| (?:otp|code|verification))"#,
        #"(?:order|ord|ref|reference|txn|transaction|booking|ticket|invoice|bill|statement|receipt|challan|loan|consumer|complaint|account|a\/c|customer|policy|awb|pnr|ऑर्डर|card|employee|user|client|member|membership|registration|application|folio|tracking|shipment|request|case)(?: ?(?:id|no\.?|number|नंबर)| ?#)(?: is)?[ :.#-]{0,3}[0-9]{6}(?![0-9])"#,
        // Perhaps the number of an order: then there is no code.
        #"(?:order|ord|ref|reference|txn|transaction|booking|ticket|invoice|bill|statement|receipt|challan|loan|consumer|complaint|account|a\/c|customer|policy|awb|pnr|ऑर्डर)[ :.#-]{1,3}([0-9]{6})(?![0-9])"#,
        // Another kind of code, or a warning about codes: neither says that this message has a code.
        #"(?:promo|coupon|discount|offer|voucher|gift|referral|invite|error|status|area|std|country|branch|ifsc|hsn|qr|pin|postal|zip|पिन|कूपन|प्रोमो)[ -]?(?:codes?|कोड)(?![\p{L}\p{M}0-9_])(?:(?: is)?[ :=*(-]{1,3}[0-9]{6}(?![0-9]))?"#,
        #"(?:never(?: ever)? (?:share|disclose|reveal|give|asks?)|(?:not|don['’]t|doesn['’]t|won['’]t) ask)(?:[ ,\/&]{1,3}(?:you|for|any|your|an?|or|and|otps?|[a-z]?pins?|cvv|passwords?|passcodes?|codes?))+(?![\p{L}\p{M}0-9_]|[ :-]{1,3}[0-9])"#,
        // A group of three and three next to a word for a code; another such group; a run of six; a word for a code.
        #"(?:otp|code|कोड|ओटीपी)(?: is)?[ :-]{1,3}([0-9]{3}(?: ?- ?| {1,2})[0-9]{3})(?![\p{L}\p{M}0-9_+\/@=]|[ .,:-][0-9])"#,
        #"([0-9]{3}(?: ?- ?| {1,2})[0-9]{3})(?= is )"#,
        #"[0-9]{1,5}[ -][0-9]{3}[ -][0-9]{3}(?![0-9])"#,
        #"([0-9]{3}(?: ?- ?| {1,2})[0-9]{3})(?![\p{L}\p{M}0-9_+\/@=]|[ .,:-][0-9])"#,
        #"([0-9]{6})(?![\p{L}\p{M}0-9_+\/@=]|[.,:-][0-9])"#,
        #"((?:otps?|o\.t\.p|codes?|passcodes?|passwords?|verification|verify|authentication|ओटीपी|कोड|पासकोड|पासवर्ड|सत्यापन|ওটিপি|কোড|ઓટીપી|કોડ|ਓਟੀਪੀ|ਕੋਡ|ஓடிபி|குறியீடு|ఓటీపీ|కోడ్|ಒಟಿಪಿ|ಕೋಡ್|ഒടിപി|കോഡ്|ଓଟିପି|କୋଡ୍|کوڈ)(?: (?:no\.?|number|नंबर))?)(?![\p{L}\p{M}0-9_])"#,
        // Dates, times, versions; digits within a word; whole words, so that no part of a word matches.
        #"[0-9]+(?:[.,:\/-][0-9]+)+"#,
        #"(?:[+\/_]|\*\*)[0-9]+"#,
        #"[\p{L}\p{M}0-9_]+"#,
    ].joined(separator: "|"))
    private static let alone = pattern(#"^[*_("'\[]*([0-9](?: ?[0-9]){5}|[0-9]{3} ?- ?[0-9]{3})[*_)"'\].,;!]*$"#)
    // Public suffixes, under which anyone can register a domain. They do not count as a domain above that of the
    // project.
    private static let shared = pattern(#"^(?:[^.]+|(?:ac|co|com|edu|firm|gen|gov|ind|mil|net|nic|org|res)\.[a-z]{2})$"#)
    private static let lastLine = pattern(#"(?:^|\n)@([^ \n]+) #([0-9]+)(?: @[^ \n]+)?$"#)

    /// The six digits: the code alone, or that of a whole message. If the last line is `@domain #code` for `domain` or
    /// one above it, its code counts; with another domain, the rest of the message must contain the same code.
    /// Otherwise the message must contain a word such as OTP: then it is the only run of six digits that is not a date,
    /// time, phone number, amount or PIN; without any run, the only group of three and three. Otherwise nothing, since
    /// a wrong code costs one of five tries.
    ///
    /// `domain` is `--webotp-domain` of the project, if it has one.
    static func read(_ message: String, domain: String? = nil) -> String? {
        let text = plain(String(decoding: message.utf16.prefix(2000), as: UTF16.self)).trimmingCharacters(in: .whitespacesAndNewlines)
        if let found = matches(alone, text).first { return digits(found[0]) }
        guard let line = matches(lastLine, text).first else { return readText(text) }
        let (host, bound) = (line[0].lowercased(), line[1])
        if let domain, covers(host, domain.lowercased()) { return bound.count == 6 ? bound : nil }
        let rest = text.range(of: "@\(line[0]) #", options: .backwards).map { String(text[..<$0.lowerBound]) } ?? ""
        let code = readText(rest)
        return code == bound ? code : nil
    }

    /// The code in a message, without its last line for browsers.
    private static func readText(_ text: String) -> String? {
        var runs = Set<String>()
        var groups = Set<String>()
        var named = false
        for found in matches(numbers, text) {
            let (id, said, saidFirst, group, run) = (found[0], found[1], found[2], found[3], found[4])
            if !id.isEmpty { return nil }
            if !said.isEmpty || !found[5].isEmpty { named = true }
            for one in [said, saidFirst, run] where !one.isEmpty { runs.insert(digits(one)) }
            if !group.isEmpty { groups.insert(digits(group)) }
        }
        let all = runs.isEmpty ? groups : runs
        return named && all.count == 1 ? all.first : nil
    }

    private static func covers(_ host: String, _ domain: String) -> Bool {
        host == domain || (".\(domain)".hasSuffix(".\(host)") && matches(shared, host).isEmpty)
    }

    /// Normalises a text: ASCII digits, one kind of space, dash and line end, and no invisible characters.
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
