package login

import (
	"errors"
	"net/http"
	"net/netip"

	"github.com/dwar-auth/dwar-go"
)

func (h *Handler) send(c *call) error {
	address := h.options.ClientAddress(c.r)
	giveBack, err := h.count(c.r, address)
	if err != nil {
		return err
	}
	sent, err := h.admitted(c, address)
	if err != nil {
		giveBack()
		return err
	}
	c.keep(otpCookie, sent.OTPID, sent.ExpiresIn)
	writeJSON(c.w, http.StatusOK, map[string]any{"otp_id": sent.OTPID, "expires_in": sent.ExpiresIn})
	return nil
}

func (h *Handler) admitted(c *call, address netip.Addr) (*dwar.SentCode, error) {
	if h.options.Admit != nil {
		if err := h.options.Admit(c.r); err != nil {
			return nil, err
		}
	}
	visitor, err := h.visitor(c, address)
	if err != nil {
		return nil, err
	}
	line, who, device := dwar.WithLastLine(h.options.LastLine), dwar.WithVisitor(visitor), dwar.WithDevice(c.device())
	return h.client.Send(c.context(), c.text("phone"), line, who, device)
}

// visitor is what the service is told about the person. Only the application says that a proof is good: whatever a page
// or an app sends under these names is ignored.
func (h *Handler) visitor(c *call, address netip.Addr) (visitor dwar.Visitor, err error) {
	if address.IsValid() {
		visitor.Address = network(address).String()
	}
	if proof := c.text("proof"); proof != "" && h.options.Prove != nil {
		visitor.Trusted, err = h.options.Prove(c.r, proof)
	}
	return visitor, err
}

// count counts a send for the address that asks, if it is known.
func (h *Handler) count(r *http.Request, address netip.Addr) (giveBack func(), err error) {
	if address.IsValid() {
		return h.sends.take(address)
	}
	h.tellOfAddress.Do(func() {
		if h.options.OnError != nil {
			h.options.OnError(r, argumentError("ClientAddress gave no address, so sends are not counted by address"))
		}
	})
	return func() {}, nil
}

// verify always sends the otp_id of this browser or app, so that a code which another person requested logs in nobody
// here.
func (h *Handler) verify(c *call) error {
	otpID := c.given(otpCookie, "otp_id")
	if otpID == "" {
		return errOTPNotFound
	}
	tokens, err := h.client.Verify(c.context(), c.text("phone"), c.text("code"), otpID, dwar.WithDevice(c.device()))
	if err != nil {
		return err
	}
	if !c.tokensInBody {
		c.keep(otpCookie, "", 0)
		// It stays after the logout: the next login is that of a known device.
		if device := tokens.Device.Reveal(); isDevice(device) {
			c.keep(deviceCookie, device, deviceSeconds)
		}
	}
	return c.give(tokens)
}

func (h *Handler) refresh(c *call) error {
	tokens, err := h.renew(c)
	if errors.Is(err, dwar.ErrSessionExpired) {
		c.endSession()
	}
	if err != nil {
		return err
	}
	return c.give(tokens)
}

// renew returns the same pair to two tabs that refresh at the same time.
func (h *Handler) renew(c *call) (*dwar.Tokens, error) {
	token := c.given(refreshCookie, "refresh_token")
	if token == "" {
		return nil, errSessionExpired
	}
	return h.client.Refresh(c.context(), token, dwar.WithIdempotencyKey(h.keyOf(token)))
}

// renewSession gives the claims of a session that is renewed by the cookies of this answer.
func (h *Handler) renewSession(c *call) (*dwar.Claims, error) {
	tokens, err := h.renew(c)
	if err != nil && !errors.Is(err, dwar.ErrSessionExpired) {
		return nil, err
	}
	c.w.Header().Set("Cache-Control", "no-store")
	if err != nil {
		c.endSession()
		return nil, errNobody
	}
	c.keepTokens(tokens)
	return h.verifier.Verify(c.r.Context(), tokens.AccessToken.Reveal())
}

func (c *call) give(tokens *dwar.Tokens) error {
	answer := map[string]any{"identity_id": tokens.IdentityID, "expires_in": tokens.ExpiresIn}
	if c.tokensInBody {
		answer["access_token"], answer["refresh_token"] = tokens.AccessToken.Reveal(), tokens.RefreshToken.Reveal()
		answer["refresh_expires_in"] = tokens.RefreshExpiresIn
		if device := tokens.Device.Reveal(); isDevice(device) {
			answer["device"] = device
		}
	} else {
		c.keepTokens(tokens)
	}
	writeJSON(c.w, http.StatusOK, answer)
	return nil
}

// logout renews an expired access token first, since the service ends a session only by a valid one.
func (h *Handler) logout(c *call) error {
	err := h.end(c, c.given(accessCookie, "access_token"))
	if isOver(err) {
		var tokens *dwar.Tokens
		if tokens, err = h.renew(c); err == nil {
			err = h.end(c, tokens.AccessToken.Reveal())
		}
	}
	if err != nil && !isOver(err) {
		return err
	}
	c.endSession()
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

func (h *Handler) end(c *call, accessToken string) error {
	if accessToken == "" {
		return errSessionExpired
	}
	_, err := h.client.Logout(c.context(), accessToken)
	return err
}

func isOver(err error) bool {
	return errors.Is(err, dwar.ErrInvalidAccessToken) || errors.Is(err, dwar.ErrSessionExpired)
}
